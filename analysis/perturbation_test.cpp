#include "analysis/perturbation.h"

#include <gtest/gtest.h>

namespace memduel {
namespace {

TrialData traced_or_not(const std::string& arm, TrialKind kind, std::int64_t ns, double peak) {
  TrialData trial;
  trial.arm = arm;
  trial.kind = kind;
  trial.end_ns = ns;
  trial.roles = {{"tree", {{"peak_rss_bytes", peak}}, {}, {}, {}, {}}};
  return trial;
}

TEST(Perturbation, IsTheRatioOfMediansPerArm) {
  RunData run;
  run.config = {{"arms", {{{"name", "a"}}, {{"name", "b"}}}},
                {"profile", {{"tracers", {"recorder"}}, {"trials", 1}}}};
  for (const std::int64_t ns : {1000, 2000, 9000})
    run.trials.push_back(traced_or_not("a", TrialKind::measure, ns, 100));
  run.trials.push_back(traced_or_not("a", TrialKind::warmup, 1, 1));
  run.trials.push_back(traced_or_not("a", TrialKind::profile, 3000, 130));
  run.trials.push_back(traced_or_not("b", TrialKind::measure, 1000, 100));
  const auto found = perturbations(run);
  ASSERT_EQ(found.size(), 1U) << "b was never traced";
  EXPECT_EQ(found[0].arm, "a");
  EXPECT_EQ(found[0].tracer, "recorder");
  EXPECT_DOUBLE_EQ(*found[0].wall_ratio, 1.5);
  EXPECT_DOUBLE_EQ(*found[0].peak_rss_ratio, 1.3);
  run.config.erase("profile");
  EXPECT_EQ(perturbations(run).size(), 1U) << "a failed gate asked for the trial, not the config";
}

}  // namespace
}  // namespace memduel
