#include "model/document.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "util/error.h"

namespace memduel {
namespace {

using nlohmann::json;

std::string refusal_of(const json& written) {
  try {
    document_of_run(written);
  } catch (const Error& error) {
    return error.message();
  }
  return "";
}

TEST(DocumentOfRun, RejectsValuesThatNoVersionWrote) {
  EXPECT_EQ(refusal_of({{"measure", {{"repeats", 2.7}}}}),
            "$.measure.repeats: expected a whole number, found 2.7");
  EXPECT_EQ(refusal_of({{"measure", {{"repeats", 1'000'000'000'000}}}}),
            "$.measure.repeats: expected a whole number, found 1000000000000");
  EXPECT_EQ(refusal_of({{"measure", {{"repeats", -5}}}}),
            "$.measure.repeats: expected a whole number from 0 to 1000000, found -5");
  EXPECT_EQ(refusal_of({{"measure", {{"order", "by threes"}}}}),
            "$.measure.order: expected restricted or superblocks, found \"by threes\"");
  EXPECT_THAT(refusal_of({{"variants", {{{"name", "a"}}, {{"name", 3}}}}}),
              testing::StartsWith("$.variants[1].name: found a value of another form"));
}

TEST(DocumentOfRun, KeepsWhatIsUnknownUnknown) {
  const Document none = document_of_run(nullptr);
  EXPECT_FALSE(none.workload.is_known());
  EXPECT_FALSE(none.measure.order);
  EXPECT_EQ(none.measure.warmup_rounds, 0);
  EXPECT_FALSE(written_document(none).contains("workload"));
}

TEST(DocumentOfRun, HasTheJobThatAProviderMade) {
  const json made = {{"kind", "command"},
                     {"processes", {{{"role", "server"}, {"argv", {"serve"}}}}},
                     {"rounds", 7}};
  const json own = {{"kind", "boxes"}, {"rounds", "many"}, {"model_bytes", 5}};
  const Document run = document_of_run({{"workload", own}, {"expanded", {{"workload", made}}}});
  EXPECT_EQ(run.workload.kind(), "boxes");
  EXPECT_EQ(run.workload.job.processes.at(0).role, "server");
  EXPECT_EQ(run.rounds(), 7);
  EXPECT_FALSE(workload_number(run, "model_bytes")) << "a key of the provider's own";
  const Document alone = document_of_run({{"workload", {{"kind", "federated"}, {"rounds", 4}}}});
  EXPECT_EQ(alone.rounds(), 4) << "of a run that did not keep its job";
  EXPECT_EQ(written_document(run).at("workload"), own);
}

}  // namespace
}  // namespace memduel
