#include "analysis/questions/budgets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/values/test_data.h"
#include "analysis/values/test_synthetic_run.h"
#include "analysis/verdicts/analyse.h"

namespace memduel {
namespace {

using nlohmann::json;

const json kBudgets = {
    {"schema", "memduel.budgets/1"},
    {"ceilings", {{"tree.peak_rss_bytes", "50MiB"}, {"tree.peak_heap_bytes", "9MiB"}}}};

TEST(Budgets, AreCeilings) {
  const std::vector<Gate> gates = budgets_from_json(kBudgets, "memduel-budgets.json");
  ASSERT_EQ(gates.size(), 2U);
  EXPECT_EQ(gates[1].bounds[0].kind, Bound::Kind::ceiling);
  EXPECT_DOUBLE_EQ(gates[1].bounds[0].value, 50 * kMiB);
}

TEST(Budgets, RefuseRelativeBoundsAndOtherSchemas) {
  json relative = kBudgets;
  relative["ceilings"]["tree.peak_rss_bytes"] = "+1%";
  EXPECT_THROW(budgets_from_json(relative, "b.json"), Error);
  EXPECT_THROW(budgets_from_json({{"schema", "memduel.budgets/9"}}, "b.json"), Error);
}

TEST(Budgets, AreRaisedToWhatTheCandidateNeedsAndTwoPercent) {
  const Results results = analyse(make_duel("peak_rss_bytes", std::vector<double>(8, 90 * kMiB),
                                            std::vector<double>(8, 100 * kMiB)),
                                  {});
  const json updated = updated_budgets(budgets_from_json(kBudgets, "b.json"), results, "b");
  EXPECT_EQ(updated.at("ceilings").at("tree.peak_rss_bytes"), "102MiB");
  EXPECT_EQ(updated.at("ceilings").at("tree.peak_heap_bytes"), "9MiB");
  EXPECT_EQ(budgets_from_json(updated, "b.json").size(), 2U);
}

}  // namespace
}  // namespace memduel
