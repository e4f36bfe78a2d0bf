#include "analysis/verdicts/perturbation.h"

#include <gtest/gtest.h>

namespace memduel {
namespace {

TrialData traced_or_not(const std::string& arm, TrialKind kind, std::int64_t ns, double peak,
                        const std::string& tracer = {}) {
  TrialData trial;
  trial.arm = arm;
  trial.kind = kind;
  trial.tracer = tracer;
  trial.end_ns = ns;
  trial.roles = {{"tree", {{"peak_rss_bytes", peak}}, {}, {}, {}, {}}};
  return trial;
}

TEST(Perturbation, IsTheRatioOfMediansPerTracerAndArm) {
  RunData run;
  run.config = {{"arms", {{{"name", "a"}}, {{"name", "b"}}}}};
  for (const std::int64_t ns : {1000, 2000, 9000})
    run.trials.push_back(traced_or_not("a", TrialKind::measure, ns, 100));
  run.trials.push_back(traced_or_not("a", TrialKind::warmup, 1, 1));
  run.trials.push_back(traced_or_not("a", TrialKind::profile, 3000, 130, "recorder"));
  run.trials.push_back(traced_or_not("b", TrialKind::measure, 1000, 100));
  const auto found = perturbations(run);
  ASSERT_EQ(found.size(), 1U) << "b was never traced";
  EXPECT_EQ(found[0].arm, "a");
  EXPECT_EQ(found[0].tracer, "recorder");
  EXPECT_DOUBLE_EQ(*found[0].wall_ratio, 1.5);
  EXPECT_DOUBLE_EQ(*found[0].peak_rss_ratio, 1.3);
  run.trials.push_back(traced_or_not("b", TrialKind::profile, 40'000, 300, "heaptrack"));
  run.trials.push_back(traced_or_not("a", TrialKind::profile, 80'000, 200, "heaptrack"));
  const auto both = perturbations(run);
  ASSERT_EQ(both.size(), 3U);
  EXPECT_DOUBLE_EQ(*both[0].wall_ratio, 1.5) << "what heaptrack costs is not the recorder's";
  EXPECT_EQ(both[1].arm, "a");
  EXPECT_EQ(both[1].tracer, "heaptrack");
  EXPECT_DOUBLE_EQ(*both[1].wall_ratio, 40);
  EXPECT_DOUBLE_EQ(*both[2].peak_rss_ratio, 3);
}

}  // namespace
}  // namespace memduel
