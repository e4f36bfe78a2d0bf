#include "run/conclusion.h"

#include <gmock/gmock.h>

#include "run/store.h"
#include "support/small_experiment.h"

namespace memduel {
namespace {

using testing::IsEmpty;
using testing::Not;

constexpr std::int64_t kSecond = 1'000'000'000;

/// A command of twenty seconds that says nothing of rounds and gains 1 MiB each second.
TrialData growing_trial(std::int64_t id, int block, const char* arm) {
  constexpr std::int64_t kBegin = 100 * kSecond;
  constexpr std::int64_t kLength = 20;
  constexpr std::int64_t kMiB = 1 << 20;
  TrialData trial;
  trial.id = id;
  trial.block = block;
  trial.arm = arm;
  RoleData role;
  role.role = "all";
  role.metrics["peak_rss_bytes"] = 70.0 * kMiB;
  role.rounds = {{1, kBegin, kBegin + kLength * kSecond, {{"round_seconds", 20.0}}, {}}};
  Series rss;
  rss.metric = "rss_bytes";
  for (std::int64_t tick = 0; tick <= 10 * kLength; ++tick) {
    rss.t_ns.push_back(kBegin + tick * kSecond / 10);
    rss.values.push_back(50 * kMiB + tick * kMiB / 10);
  }
  role.series.push_back(std::move(rss));
  trial.roles.push_back(std::move(role));
  return trial;
}

using Conclusion = TestFolder;

TEST_F(Conclusion, TellsGrowthByTimeWhoeverAsks) {
  const Document config = document_of_run({{"name", "hog"},
                                           {"workload", {{"kind", "command"}}},
                                           {"baseline", "a"},
                                           {"variants", {{{"name", "a"}}, {{"name", "b"}}}}});
  JobFacts job;
  job.roles = {"command"};
  {
    Store store =
        Store::create(folder_ / "run", {config, "c0ffee", job, {{"fingerprint", "f"}}, {}});
    for (int block = 1; block <= 6; ++block)
      for (const char* arm : {"a", "b"})
        store.add_trial(growing_trial(2 * block + (*arm == 'b'), block, arm));
  }
  const auto growth = [&](WithSeries series) {
    std::vector<std::string> told;
    for (const Growth& row : conclude(folder_ / "run", {}, series).results.growth)
      told.push_back(row.arm + " " + row.metric + ": " + row.reason);
    return told;
  };
  EXPECT_THAT(growth(WithSeries::yes), Not(IsEmpty()));
  EXPECT_EQ(growth(WithSeries::no), growth(WithSeries::yes));
}

}  // namespace
}  // namespace memduel
