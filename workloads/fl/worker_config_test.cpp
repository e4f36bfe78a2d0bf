#include "fl/worker_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "util/error.h"

namespace memduel {
namespace {

using ::testing::HasSubstr;

nlohmann::json good() {
  return nlohmann::json::parse(R"({
    "workload": {
      "kind": "federated", "model": "mnist-cnn", "device": "cpu", "threads": 1,
      "dataset": { "name": "mnist", "seed": 42 },
      "clients": 2, "rounds": 5, "local_steps": 10, "batch_size": 16,
      "optimizer": { "name": "adam", "learning_rate": 0.01 },
      "transport": { "kind": "grpc", "port": 0, "max_message_bytes": 10485760 },
      "deadline_seconds": 600 },
    "switches": {}, "seed": 1, "meters": ["torch"], "trial_dir": "/t", "data_dir": "/d",
    "address_file": "/t/server.address", "model_file": "/t/final_model.bin" })");
}

std::string config_refusal(const nlohmann::json& given) {
  try {
    parse_worker_config(given, "worker.json");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.message();
  }
  return "accepted";
}

TEST(WorkerConfig, ReadsWhatThePlannerWrites) {
  const WorkerConfig config = parse_worker_config(good(), "worker.json");
  EXPECT_EQ(config.workload.clients, 2);
  EXPECT_EQ(config.workload.validation_batch_size, 16);
  EXPECT_EQ(config.workload.transport.max_message_bytes, 10485760U);
  EXPECT_FALSE(config.workload.send_gradient);
  EXPECT_EQ(config.model_file, "/t/final_model.bin");
}

TEST(WorkerConfig, ZeroClientsAreRefused) {
  nlohmann::json given = good();
  given["workload"]["clients"] = 0;
  EXPECT_THAT(config_refusal(given),
              HasSubstr("worker.json, $.workload.clients: expected an integer from 1"));
}

TEST(WorkerConfig, UnknownKeyNamesPathAndNearest) {
  nlohmann::json given = good();
  given["workload"]["optimizer"]["learning_rat"] = 1;
  EXPECT_THAT(config_refusal(given), ::testing::AllOf(HasSubstr("workload.optimizer.learning_rat"),
                                                      HasSubstr("did you mean \"learning_rate\"")));
}

TEST(WorkerConfig, WrongTypeAndWrongWordAreRefused) {
  nlohmann::json given = good();
  given["workload"]["rounds"] = "five";
  EXPECT_THAT(config_refusal(given),
              HasSubstr("workload.rounds: expected integer, found string \"five\""));
  given = good();
  given["workload"]["optimizer"]["name"] = "magic";
  EXPECT_THAT(config_refusal(given), HasSubstr("expected adam or sgd"));
  given = good();
  given["workload"]["optimizer"]["learning_rate"] = 0;
  EXPECT_THAT(config_refusal(given), HasSubstr("above 0"));
}

TEST(WorkerConfig, ADeviceIsEveryRolesOrNamedByRole) {
  nlohmann::json given = good();
  given["workload"]["device"] = "cuda:1";
  WorkloadConfig workload = parse_worker_config(given, "worker.json").workload;
  EXPECT_EQ(workload.device, "cuda:1");
  EXPECT_EQ(workload.server_device, "cuda:1");
  given["workload"]["device"] = {{"client", "cuda"}};
  workload = parse_worker_config(given, "worker.json").workload;
  EXPECT_EQ(workload.device, "cuda");
  EXPECT_EQ(workload.server_device, "cpu");
}

TEST(WorkerConfig, ADeviceThatIsNoneIsRefused) {
  for (const nlohmann::json& device :
       {nlohmann::json("gpu"), nlohmann::json("cuda:"), nlohmann::json("cuda:x"),
        nlohmann::json({{"client", "cuda:1000"}}), nlohmann::json({{"client-2", "cuda"}})}) {
    nlohmann::json given = good();
    given["workload"]["device"] = device;
    EXPECT_THAT(config_refusal(given), HasSubstr("workload.device")) << device;
  }
}

TEST(WorkerConfig, MissingKeyIsRefused) {
  nlohmann::json given = good();
  given["workload"].erase("model");
  EXPECT_EQ(config_refusal(given),
            "worker.json, $.workload: found no key \"model\", which is required\n"
            "  Model; memduel list models describes them.");
}

}  // namespace
}  // namespace memduel
