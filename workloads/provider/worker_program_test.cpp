#include "provider/worker_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "util/error.h"

namespace memduel {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;

struct Asked {
  json workload;
  json arms;
};

Asked asking_for(const json& workload, const json& optimizations = json::object()) {
  return {workload, json::array({{{"name", "minimal"}, {"switches", optimizations}}})};
}

std::string refusal(const Asked& asked, const json& worker) {
  try {
    expect_abilities(asked.workload, asked.arms, worker);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::cannot_measure);
    return error.message();
  }
  return "no error";
}

const json kWholeWorker = {{"cuda", true}, {"grpc", "1.51"}, {"compression", true}};
const json kWorkerOnly = {{"cuda", false},
                          {"no_cuda", "this LibTorch was built without CUDA"},
                          {"grpc", nullptr},
                          {"compression", false}};

TEST(WorkerAbilities, ADeviceThatTheWorkerLacksIsNamedWithTheReason) {
  const Asked experiment = asking_for({{"device", "cuda"}});
  EXPECT_EQ(refusal(experiment, kWholeWorker), "no error");
  EXPECT_THAT(refusal(experiment, kWorkerOnly),
              AllOf(HasSubstr("workload.device"), HasSubstr("device \"cuda\""),
                    HasSubstr("built without CUDA"), HasSubstr("docs/gpu.md")));
  EXPECT_EQ(refusal(asking_for({{"device", "cpu"}}), kWorkerOnly), "no error");
  const Asked clients_alone = asking_for({{"device", {{"client", "cuda"}}}});
  EXPECT_EQ(refusal(clients_alone, kWholeWorker), "no error");
  EXPECT_THAT(refusal(clients_alone, kWorkerOnly), HasSubstr("device \"cuda\""));
}

TEST(WorkerAbilities, AGpuThatIsNotThereIsNamedWithHowManyThereAre) {
  json two_gpus = kWholeWorker;
  two_gpus["gpus"] = 2;
  EXPECT_EQ(refusal(asking_for({{"device", "cuda:1"}}), two_gpus), "no error");
  EXPECT_THAT(refusal(asking_for({{"device", {{"client", "cuda:2"}}}}), two_gpus),
              AllOf(HasSubstr("device \"cuda:2\""), HasSubstr("2 GPUs")));
}

TEST(WorkerAbilities, ATransportThatTheWorkerLacksIsNamed) {
  const Asked experiment = asking_for({{"transport", {{"kind", "grpc"}}}});
  EXPECT_EQ(refusal(experiment, kWholeWorker), "no error");
  EXPECT_THAT(refusal(experiment, kWorkerOnly),
              AllOf(HasSubstr("workload.transport.kind"), HasSubstr("without gRPC")));
}

TEST(WorkerAbilities, ACompressionThatTheWorkerLacksIsNamedWithItsArm) {
  const Asked experiment = asking_for(json::object(), {{"compression", "zfp"}});
  EXPECT_EQ(refusal(experiment, kWholeWorker), "no error");
  EXPECT_THAT(refusal(experiment, kWorkerOnly),
              AllOf(HasSubstr("variant minimal"), HasSubstr("\"zfp\""),
                    HasSubstr("without blosc and zfp")));
  EXPECT_EQ(refusal(asking_for(json::object(), {{"compression", "none"}}), kWorkerOnly),
            "no error");
}

}  // namespace
}  // namespace memduel
