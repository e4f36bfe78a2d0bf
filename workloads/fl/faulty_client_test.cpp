// What becomes of a run in which a client sends something wrong: real server, real clients, and one
// whose upload of round 2 is spoilt. The run ends with an error that names round, client and
// tensor or chunk, and the others are released.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <future>
#include <limits>
#include <optional>

#include "base/error.h"
#include "workloads/federated/test_played_client.h"

namespace memduel {
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
  other_chunk.complaints = {"chunk 1 of 2", "found chunk 2 of 2, expected 1 of 2"};
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

}  // namespace
}  // namespace memduel
