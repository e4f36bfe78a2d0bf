// memduel record on a gRPC server that serves real clients.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <future>

#include "support/catalog_files.h"
#include "support/memduel_program.h"
#include "util/file.h"

namespace memduel {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

namespace fs = std::filesystem;

constexpr const char* kWorkload = R"({
  "kind": "federated", "model": "mnist-cnn", "device": "cpu", "threads": 1,
  "dataset": { "name": "mnist", "train_samples": 64, "test_samples": 32, "seed": 42 },
  "clients": 2, "rounds": 2, "local_steps": 2, "batch_size": 8,
  "optimizer": { "name": "adam", "learning_rate": 0.001 },
  "transport": { "kind": "grpc", "max_message_bytes": 1048576 }, "deadline_seconds": 200 })";

/// The command line of a role of the trial in `directory`, without the role.
std::string prepare(const fs::path& directory) {
  fs::create_directories(directory);
  const nlohmann::json config = {{"workload", nlohmann::json::parse(kWorkload)},
                                 {"switches", preset_values("appfl-original")},
                                 {"seed", 1},
                                 {"meters", nlohmann::json::array()},
                                 {"trial_dir", directory},
                                 {"data_dir", MEMDUEL_DATASETS},
                                 {"address_file", directory / "server.address"},
                                 {"model_file", directory / "final_model.bin"}};
  write_file_atomically(directory / "worker.json", config.dump());
  return std::string(MEMDUEL_WORKER) + " --config " + (directory / "worker.json").string();
}

/// Starts two clients when the server listens. True when both end well.
bool clients_succeed(const std::string& worker, const fs::path& directory) {
  for (int i = 0; i < 2400 && !fs::exists(directory / "server.address"); ++i) usleep(50'000);
  const std::string client = worker + " --role client --index ";
  return std::system((client + "1 & one=$!; " + client + "2 && wait $one").c_str()) == 0;
}

TEST(Record, LeavesAGrpcServerUnharmedAndNamesWhatItDoes) {
  const Workplace place;
  const fs::path plain = place.path("plain");
  const std::string plain_worker = prepare(plain);
  auto plain_server = std::async(std::launch::async, [&] {
    return std::system((plain_worker + " --role server >" + (plain / "stdout").string()).c_str());
  });
  ASSERT_TRUE(clients_succeed(plain_worker, plain));
  ASSERT_EQ(plain_server.get(), 0);

  const fs::path recorded = place.path("recorded");
  const std::string worker = prepare(recorded);
  const std::string profile = place.path("server.mdp").string();
  Running server(place, {"record", "--interval", "64KiB", "-o", profile, "--", MEMDUEL_WORKER,
                         "--config", recorded / "worker.json", "--role", "server"});
  ASSERT_TRUE(clients_succeed(worker, recorded));
  const Finished run = server.wait();
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.out, read_file(plain / "stdout"));
  EXPECT_EQ(read_file(recorded / "final_model.bin"), read_file(plain / "final_model.bin"));

  const auto exported = profile_in(place, profile);
  EXPECT_THAT(exported.at("notes"), IsEmpty());
  EXPECT_THAT(exported.at("round_peaks"), SizeIs(2));
  const std::string folded =
      memduel(place, {"export", profile, "--format", "folded", "--kind", "allocated"}).out;
  // A handler thread's stack, from the thread's start through gRPC into the server's own code.
  EXPECT_THAT(folded, AllOf(HasSubstr("memduel::run_server"), HasSubstr("grpc::"),
                            HasSubstr("grpc_"), HasSubstr("memduel::Bytes::reserve")));
  EXPECT_THAT(memduel(place, {"summary", profile}).out, HasSubstr("memduel::Bytes::reserve"));
}

}  // namespace
}  // namespace memduel
