// What becomes of a run when a client breaks off, or hangs, in the middle of an upload, or its
// process is seen to end while the upload's own connection still stands: real server, real clients,
// and one that stops half-way. Without training, client i adds i/1024 to every element of the
// global state each round, so the average of clients moves it by the mean of theirs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <future>

#include "base/error.h"
#include "workloads/federated/model_file.h"
#include "workloads/federated/test_played_client.h"

namespace memduel {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr int kClients = 3;
constexpr int kRounds = 3;
constexpr int kLostIn = 2;

enum class Ending { breaks_off, hangs, stops_attending };

struct Case {
  std::string name;
  std::string preset;
  std::string transport;
  Ending ending;
};

void PrintTo(const Case& one, std::ostream* stream) {
  *stream << one.name;
}

class LostClient : public ::testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    dir_ = fs::path(::testing::TempDir()) /
           ("lost_client." + std::to_string(getpid()) + "." + GetParam().name);
    fs::remove_all(dir_);
    fs::create_directories(dir_);
  }
  void TearDown() override { fs::remove_all(dir_); }

  [[nodiscard]] WorkerConfig config(const std::string& policy) const {
    return test_run_config(dir_, {GetParam().preset,
                                  {{"clients", kClients},
                                   {"rounds", kRounds},
                                   {"on_lost_client", policy},
                                   {"stall_seconds", 2},
                                   {"transport", {{"kind", GetParam().transport}}}},
                                  nlohmann::json::object()});
  }

  fs::path dir_;
};

void keep_half(std::vector<Segment>& segments) {
  std::size_t left = 0;
  for (const Segment& segment : segments) left += segment.bytes.size() / 2;
  for (Segment& segment : segments) {
    segment.bytes = segment.bytes.substr(0, left);
    left -= segment.bytes.size();
  }
}

/// Takes part until it stops half-way through its upload of round kLostIn. `over`: the others are
/// done, one that keeps its upload open may go.
void run_unreliable_client(const WorkerConfig& config, Ending ending,
                           const std::shared_future<void>& over) {
  PlayedClient client(config);
  if (ending == Ending::stops_attending) client.attend();
  client.take_part_in_rounds(kLostIn - 1);
  for (const NamedTensor& entry : client.state())
    entry.tensor.add_(1);  // would show in the average
  const auto call = client.start_update();
  Outgoing outgoing = client.prepare(client.state());
  keep_half(outgoing.body);
  // Half a state is more than transports hold: once it is sent, a folding server is reading it.
  send(*call, std::move(outgoing), 65536);
  if (ending == Ending::stops_attending) client.stop_attending();
  if (ending != Ending::breaks_off) over.wait();
}

struct Outcome {
  std::string server_error;
  double moved = 0;  ///< of the global state's first element, over the run, × 1024
};

Outcome run_with_unreliable_client(const WorkerConfig& config, Ending ending) {
  std::promise<void> over;
  const std::shared_future<void> over_future = over.get_future().share();
  auto server = std::async(std::launch::async, [&] { run_server(config); });
  std::vector<std::future<void>> clients;
  for (int index = 1; index < kClients; ++index)
    clients.push_back(std::async(std::launch::async, [&, index] { run_client(config, index); }));
  clients.push_back(
      std::async(std::launch::async, [&] { run_unreliable_client(config, ending, over_future); }));
  Outcome outcome;
  try {
    server.get();
  } catch (const Error& error) {
    outcome.server_error = error.message();
  }
  over.set_value();
  for (auto& client : clients) {
    try {
      client.get();
    } catch (const Error&) {
      EXPECT_FALSE(outcome.server_error.empty()) << "a client failed while the server did not";
    }
  }
  if (outcome.server_error.empty()) {
    const State initial = build_model(config, at::kCPU).state;
    const State final_state = read_model_file(config.model_file);
    outcome.moved = 1024.0 * (final_state[0].tensor.flatten()[0].item<double>() -
                              initial[0].tensor.flatten()[0].item<double>());
  }
  return outcome;
}

TEST_P(LostClient, TheOthersFinishTheRoundWithoutIt) {
  const Outcome outcome = run_with_unreliable_client(config("continue"), GetParam().ending);
  EXPECT_EQ(outcome.server_error, "");
  // Round 1: (1 + 2 + 3) / 3. Rounds 2 and 3: (1 + 2) / 2.
  EXPECT_NEAR(outcome.moved, 2 + 1.5 + 1.5, 0.001);
}

TEST_P(LostClient, TheRunFailsNamingClientAndRound) {
  const Outcome outcome = run_with_unreliable_client(config("fail"), GetParam().ending);
  EXPECT_THAT(
      outcome.server_error,
      AllOf(HasSubstr("round 2"), HasSubstr("client-3 was lost"),
            HasSubstr(GetParam().ending == Ending::hangs ? "it sent nothing for 2 s" : "")));
}

std::vector<Case> cases() {
  std::vector<Case> all = {
      {"fold_unix_breaks_off", "appfl-minimal", "unix", Ending::breaks_off},
      {"fold_unix_hangs", "appfl-minimal", "unix", Ending::hangs},
      {"fold_unix_stops_attending", "appfl-minimal", "unix", Ending::stops_attending},
      {"collect_unix_breaks_off", "appfl-original", "unix", Ending::breaks_off},
      {"collect_unix_hangs", "appfl-optimized", "unix", Ending::hangs}};
#ifdef MEMDUEL_HAVE_GRPC
  all.push_back({"fold_grpc_breaks_off", "appfl-minimal", "grpc", Ending::breaks_off});
  all.push_back({"fold_grpc_hangs", "appfl-minimal", "grpc", Ending::hangs});
  all.push_back({"fold_grpc_stops_attending", "appfl-minimal", "grpc", Ending::stops_attending});
  all.push_back({"collect_grpc_hangs", "appfl-original", "grpc", Ending::hangs});
#endif
  return all;
}

INSTANTIATE_TEST_SUITE_P(All, LostClient, ::testing::ValuesIn(cases()),
                         [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace memduel
