// Names of schema 1: read in results.json, refused with the new name on a command line.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/synthetic_run.h"
#include "util/error.h"
#include "verdict/analyse.h"
#include "verdict/gates.h"
#include "verdict/questions.h"
#include "verdict/result_files.h"

namespace memduel {
namespace {

using nlohmann::json;
using testing::HasSubstr;

std::string message_of_gate(const char* gate, const std::vector<std::string>& roles) {
  for (const bool has_run : {false, true}) {
    try {
      if (has_run)
        check_gate_names({parse_gate(gate)}, roles, {}, {});
      else
        check_gates_before_run({parse_gate(gate)}, roles, {}, true);
    } catch (const Error& error) {
      return error.message();
    }
  }
  return {};
}

TEST(RenamedGateNames, AreRefusedWithTheNewName) {
  EXPECT_EQ(
      message_of_gate("tree.peak_rss_bytes<=+1%:advisory", {"server", "all"}),
      "gate 'tree.peak_rss_bytes<=+1%:advisory': unknown role 'tree'\n  it was renamed: write "
      "all.peak_rss_bytes<=+1%:advisory");
  EXPECT_EQ(message_of_gate("all.heap_held_free_bytes<=+1%", {"all"}),
            "gate 'all.heap_held_free_bytes<=+1%': unknown metric 'heap_held_free_bytes'\n  it "
            "was renamed: write all.heap_free_bytes<=+1%");
}

TEST(RenamedGateNames, AreGatesOfProcessThatHasTheName) {
  EXPECT_EQ(message_of_gate("tree.peak_rss_bytes<=+1%", {"tree", "all"}), "");
}

Results small_results() {
  RunData run = make_duel("peak_rss_bytes", {1e8, 1.01e8, 1e8}, {2e8, 2e8, 2.01e8});
  run.limitations.push_back({"metric_in_one_variant_only", "message", "advice"});
  return analyse(run, {});
}

TEST(RenamedGateNames, AreNamedByExplain) {
  try {
    explain(small_results(), "tree.peak_rss_bytes");
    ADD_FAILURE() << "explained";
  } catch (const Error& error) {
    EXPECT_THAT(error.message(), HasSubstr("did you mean \"all.peak_rss_bytes\"?"));
  }
}

TEST(ResultsOfSchema1, AreReadUnderTheirNames) {
  const Results results = small_results();
  json document = results_to_json(results);
  document["schema"] = "memduel.results/1";
  document["arms"] = document["variants"];
  document.erase("variants");
  for (json& trial : document["trials"]) {
    trial["arm"] = trial["variant"];
    trial.erase("variant");
    for (json& role : trial["roles"]) role["role"] = "tree";
  }
  for (json& row : document["comparisons"]) {
    row["role"] = "tree";
    row["exact"] = row["identical"];
    row["smallest_detectable"] = row["minimum_detectable"];
    row.erase("identical");
    row.erase("minimum_detectable");
  }
  for (json& note : document["limitations"])
    if (note["code"] == "metric_in_one_variant_only") note["code"] = "metric_in_one_arm_only";
  const json before = document;
  EXPECT_EQ(results_to_json(results_from_json(document, "r.json")), results_to_json(results));
  EXPECT_EQ(document, before);
}

TEST(ResultsOfSchema1, AreRefusedByThePlaceOfAWrongValue) {
  json document = {{"schema", "memduel.results/1"},
                   {"environment", nullptr},
                   {"gates", {{{"gate", "x"}, {"candidate", "b"}, {"outcome", "lost"}}}}};
  try {
    results_from_json(document, "r.json");
    ADD_FAILURE() << "read";
  } catch (const Error& error) {
    EXPECT_THAT(error.message(), HasSubstr("r.json at /gates/0/outcome"));
  }
}

}  // namespace
}  // namespace memduel
