// Clients that send what is wrong, or are lost: the last client of a run without training is
// played by the test. It is as honest as the others (client i adds i/1024 to every element each
// round) up to a round, then does as the test likes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <future>
#include <limits>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "fl/models.h"
#include "fl/roles.h"
#include "server_connection.h"
#include "support/worker_runs.h"
#include "util/error.h"
#include "util/file.h"

namespace memduel {

class PlayedClient {
 public:
  explicit PlayedClient(const WorkerConfig& config)
      : number_(config.workload.clients),
        optimizations_(
            make_optimizations(config.optimizations, config.workload.transport.max_message_bytes)),
        transport_(open_client(transport_options(config, optimizations_),
                               await_file(config.address_file), client_name(number_))) {
    transport_->connect(std::chrono::seconds(30));
    connection_ =
        std::make_unique<ServerConnection>(*transport_, optimizations_, client_name(number_));
    chunks_ = split_state(build_model(config, at::kCPU).state, optimizations_.chunk_bytes);
    state_ = every_chunk(
        [&](std::size_t chunk) { return connection_->get_global_model(place(chunk), nullptr); });
  }

  void take_part_in_rounds(int rounds) {
    for (int round = 1; round <= rounds; ++round) {
      for (const NamedTensor& entry : state_) {
        if (entry.tensor.is_floating_point()) entry.tensor.add_(number_ / 1024.0);
      }
      state_ = every_chunk([&](std::size_t chunk) {
        ModelUpdate update = connection_->start_update();
        update.send_state(select_entries(state_, chunks_[chunk]), header(chunk));
        return update.receive(nullptr).state;
      });
    }
  }

  void attend() { connection_->attend(); }
  /// As if its process ended; calls that it started go on.
  void stop_attending() { connection_.reset(); }
  void set_sample_size(std::int64_t samples) { connection_->set_sample_size(samples); }

  [[nodiscard]] State& state() { return state_; }
  [[nodiscard]] State first_chunk() const { return select_entries(state_, chunks_.front()); }

  /// The next upload, of `state`, for the test to spoil before it is sent. @param chunk which one
  /// it says it is.
  Outgoing prepare(const State& state, std::size_t chunk = 0) {
    return optimizations_.serializer->prepare(state, header(chunk), *optimizations_.framing,
                                              frame_);
  }
  std::unique_ptr<ClientCall> start_update() {
    return transport_->start(Method::update_global_model);
  }

 private:
  static std::string await_file(const std::filesystem::path& file) {
    while (!std::filesystem::exists(file))
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return read_file(file);
  }

  /// What `take` gives for each chunk, together.
  template <class Take>
  State every_chunk(Take take) const {
    State whole;
    for (std::size_t chunk = 0; chunk < chunks_.size(); ++chunk)
      for (NamedTensor& entry : take(chunk)) whole.push_back(std::move(entry));
    return whole;
  }

  [[nodiscard]] ChunkPlace place(std::size_t chunk) const { return {chunk, chunks_.size()}; }
  [[nodiscard]] Header header(std::size_t chunk) const {
    return connection_->header(chunk_metadata(place(chunk)));
  }

  int number_;
  Optimizations optimizations_;
  std::unique_ptr<ClientTransport> transport_;
  std::unique_ptr<ServerConnection> connection_;
  CallFrame frame_{Side::client};
  std::vector<State> chunks_;
  State state_;
};

namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr int kSpoiltRound = 2;

struct Fault {
  std::string name;
  std::function<void(State&)> spoil_state = [](State&) {};
  std::function<void(Outgoing&)> spoil_bytes = [](Outgoing&) {};
  std::optional<std::size_t> says_chunk;  ///< where models travel in chunks and this is the first
  std::vector<std::string> complaints;  ///< words that the error must hold besides round and client
};

void drop_last_bytes(Outgoing& outgoing, std::size_t count) {
  for (auto segment = outgoing.body.rbegin(); count > 0; ++segment) {
    const std::size_t part = std::min(count, segment->bytes.size());
    segment->bytes.remove_suffix(part);
    count -= part;
  }
}

std::vector<Fault> faults() {
  const auto with_state = [](const std::string& name, std::function<void(State&)> spoil,
                             std::vector<std::string> complaints) {
    Fault fault;
    fault.name = name;
    fault.spoil_state = std::move(spoil);
    fault.complaints = std::move(complaints);
    return fault;
  };
  std::vector<Fault> all = {
      with_state("shape", [](State& state) { state[1].tensor = torch::zeros({99}); }, {"tensor b"}),
      with_state("missing_name", [](State& state) { state.pop_back(); }, {"norm.mean"}),
      with_state("extra_name", [](State& state) { state.push_back({"z", torch::zeros({2})}); },
                 {"z"}),
      with_state(
          "not_a_number",
          [](State& state) { state[2].tensor[3][1] = std::numeric_limits<float>::quiet_NaN(); },
          {"tensor c", "NaN"})};
  Fault short_one;
  short_one.name = "short";
  short_one.spoil_bytes = [](Outgoing& outgoing) { drop_last_bytes(outgoing, 100); };
  short_one.complaints = {"bytes"};
  all.push_back(std::move(short_one));
  Fault long_one;
  long_one.name = "long";
  long_one.spoil_bytes = [](Outgoing& outgoing) { outgoing.body.push_back({"and more", nullptr}); };
  long_one.complaints = {"bytes"};
  all.push_back(std::move(long_one));
  Fault other_chunk;
  other_chunk.name = "other_chunk";
  other_chunk.says_chunk = 1;
  other_chunk.complaints = {"chunk 1 of 2", "expected chunk 1 of 2, found 2 of 2"};
  all.push_back(std::move(other_chunk));
  return all;
}

struct SpoiltUpload {
  Fault fault;
  std::string preset;
  std::string transport;
};

void PrintTo(const SpoiltUpload& one, std::ostream* stream) {
  *stream << one.fault.name;
}

class BadUpload : public ::testing::TestWithParam<SpoiltUpload> {};

void send_spoilt_upload(const WorkerConfig& config, const Fault& fault) {
  PlayedClient client(config);
  client.take_part_in_rounds(kSpoiltRound - 1);
  fault.spoil_state(client.state());
  const auto call = client.start_update();
  Outgoing outgoing = fault.says_chunk ? client.prepare(client.first_chunk(), *fault.says_chunk)
                                       : client.prepare(client.state());
  fault.spoil_bytes(outgoing);
  send(*call, std::move(outgoing), 65536);
  call->finish_writing();
  while (call->read()) {
  }
  call->finish();  // throws the server's words
}

std::string error_of(std::future<void> role) {
  try {
    role.get();
  } catch (const Error& error) {
    return error.message();
  }
  return {};
}

TEST_P(BadUpload, EndsTheRunNamingRoundClientAndPlace) {
  const fs::path dir = fs::path(::testing::TempDir()) / ("bad_upload." + std::to_string(getpid()));
  fs::remove_all(dir);
  fs::create_directories(dir);
  const bool chunked = GetParam().fault.says_chunk.has_value();
  const WorkerConfig config = test_run_config(
      dir, {GetParam().preset,
            {{"rounds", 3},
             // A client that sends something wrong is not one that was lost.
             {"on_lost_client", chunked ? "fail" : "continue"},
             {"transport", {{"kind", GetParam().transport}}}},
            {{"model_chunking", chunked ? nlohmann::json(2048) : nlohmann::json("off")}}});
  auto server = std::async(std::launch::async, [&] { run_server(config); });
  auto honest = std::async(std::launch::async, [&] { run_client(config, 1); });
  auto spoilt =
      std::async(std::launch::async, [&] { send_spoilt_upload(config, GetParam().fault); });
  const std::string said = error_of(std::move(server));
  EXPECT_THAT(said, AllOf(HasSubstr("round 2"), HasSubstr("client-2")));
  for (const std::string& complaint : GetParam().fault.complaints)
    EXPECT_THAT(said, HasSubstr(complaint));
  EXPECT_NE(error_of(std::move(honest)), "") << "released, and told why";
  EXPECT_NE(error_of(std::move(spoilt)), "");
  EXPECT_FALSE(fs::exists(config.model_file)) << "no result that looks whole";
  fs::remove_all(dir);
}

std::vector<SpoiltUpload> spoilt_uploads() {
  std::vector<SpoiltUpload> all;
  for (const Fault& fault : faults()) {
    for (const char* preset : {"appfl-original", "appfl-minimal"}) {
      Fault seen = fault;
      // A message that holds the model says its length before any tensor is looked at.
      if (fault.name == "short" && std::string(preset) == "appfl-minimal")
        seen.complaints.push_back("tensor norm.mean");
      all.push_back({seen, preset, "unix"});
#ifdef MEMDUEL_HAVE_GRPC
      all.push_back({seen, preset, "grpc"});
#endif
    }
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(All, BadUpload, ::testing::ValuesIn(spoilt_uploads()),
                         [](const auto& one) {
                           const std::string preset =
                               one.param.preset.substr(one.param.preset.find('-') + 1);
                           return one.param.fault.name + "_" + preset + "_" + one.param.transport;
                         });

// No client has samples: shares of them cannot be made.
TEST(Weights, OfNoSamplesAreAnErrorThatNamesTheRound) {
  const fs::path dir = fs::path(::testing::TempDir()) / ("no_weights." + std::to_string(getpid()));
  fs::create_directories(dir);
  const WorkerConfig config = test_run_config(
      dir, {"appfl-original", {{"weights", "sample_size"}}, nlohmann::json::object()});
  try {
    run_roles(config);
    FAIL() << "averaged with weights out of nothing";
  } catch (const Error& error) {
    EXPECT_THAT(error.message(), AllOf(HasSubstr("round 1"), HasSubstr("no samples")));
  }
  fs::remove_all(dir);
}

// With 10 of the other client they would be shares of -1 and 2.
TEST(Weights, OfANegativeSampleSizeAreRefusedNamingTheClient) {
  const fs::path dir =
      fs::path(::testing::TempDir()) / ("negative_weight." + std::to_string(getpid()));
  fs::create_directories(dir);
  const WorkerConfig config = test_run_config(
      dir, {"appfl-original", {{"weights", "sample_size"}}, nlohmann::json::object()});
  auto server = std::async(std::launch::async, [&] { run_server(config); });
  auto honest = std::async(std::launch::async, [&] { run_client(config, 1); });
  auto negative = std::async(std::launch::async, [&] { PlayedClient(config).set_sample_size(-5); });
  EXPECT_THAT(error_of(std::move(server)), AllOf(HasSubstr("client-2"), HasSubstr("found -5")));
  EXPECT_NE(error_of(std::move(honest)), "") << "released, and told why";
  EXPECT_THAT(error_of(std::move(negative)), HasSubstr("found -5"));
  fs::remove_all(dir);
}

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
