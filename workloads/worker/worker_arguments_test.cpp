#include "worker_arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "util/error.h"

namespace memduel {
namespace {

using ::testing::HasSubstr;

std::string usage_error(const std::vector<std::string>& words) {
  try {
    parse_worker_arguments(words);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.message();
  }
  return "no error";
}

TEST(WorkerArguments, NameARoleItsNumberAndItsConfig) {
  const WorkerArguments client =
      parse_worker_arguments({"--role", "client", "--index", "2", "--config", "worker.json"});
  EXPECT_EQ(client.task, WorkerTask::role);
  EXPECT_EQ(client.role, "client");
  EXPECT_EQ(client.index, 2);
  EXPECT_EQ(client.config, "worker.json");
  EXPECT_EQ(parse_worker_arguments({"--config", "a", "--role", "server"}).role, "server");
  EXPECT_EQ(parse_worker_arguments({"--role", "simulator", "--config", "a"}).role, "simulator");
}

TEST(WorkerArguments, NameAServiceAndWhatItIsAbout) {
  const WorkerArguments models = parse_worker_arguments({"compare-models", "a", "b"});
  EXPECT_EQ(models.task, WorkerTask::compare_models);
  EXPECT_EQ(models.model_a + models.model_b, "ab");
  EXPECT_EQ(parse_worker_arguments({"describe"}).workload, "");
  EXPECT_EQ(parse_worker_arguments({"describe", "--workload", "{}"}).workload, "{}");
  EXPECT_EQ(parse_worker_arguments({"probe", "--request", "{}"}).request, "{}");
  EXPECT_EQ(parse_worker_arguments({"--help"}).task, WorkerTask::help);
}

TEST(WorkerArguments, AreRefusedWithTheWordThatIsWrong) {
  EXPECT_THAT(usage_error({}), HasSubstr("--role and --config"));
  EXPECT_THAT(usage_error({"--role", "server"}), HasSubstr("--config"));
  EXPECT_THAT(usage_error({"--role"}), HasSubstr("--role needs a value"));
  EXPECT_THAT(usage_error({"--role", "judge", "--config", "a"}), HasSubstr("\"judge\""));
  EXPECT_THAT(usage_error({"--role", "client", "--index", "2x", "--config", "a"}),
              HasSubstr("for --index, found \"2x\""));
  EXPECT_THAT(usage_error({"--rol", "client"}), HasSubstr("\"--rol\""));
  EXPECT_THAT(usage_error({"compare-models", "a"}), HasSubstr("compare-models needs a value"));
  EXPECT_THAT(usage_error({"compare-models", "a", "b", "c"}), HasSubstr("\"c\""));
  EXPECT_THAT(usage_error({"describe", "now"}), HasSubstr("expected --workload"));
  EXPECT_THAT(usage_error({"describe", "--workload", "{}", "x"}), HasSubstr("\"x\""));
  EXPECT_THAT(usage_error({"probe", "{}"}), HasSubstr("expected --request"));
}

}  // namespace
}  // namespace memduel
