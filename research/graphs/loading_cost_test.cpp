#include "loading_cost.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <csignal>
#include <optional>

#include "kdgat/graph_file.h"
#include "util/error.h"
#include "util/file.h"

namespace memduel {
namespace {

TEST(GraphLoadingCost, InHalfOfTheFileMappingFinishesAndReadingIsKilled) {
  const ScratchDirectory scratch(".", "loading-cost");  // not /tmp, whose pages may have no disk
  const std::filesystem::path path = scratch.path() / "graphs";
  write_generated_graphs(path, 10'000, 1);
  const auto file_bytes = static_cast<std::int64_t>(std::filesystem::file_size(path));
  const double sum = cost_of_loading(path, GraphLoading::read_all).sum;
  EXPECT_GT(sum, 0);
  for (const GraphLoading loading : {GraphLoading::mmap, GraphLoading::read_all}) {
    forget_cached(path);
    std::optional<LimitedGroup> group;
    try {
      group.emplace(file_bytes / 2);
    } catch (const Error& error) {
      GTEST_SKIP() << error.message();
    }
    const LoadingCost cost = cost_of_loading(path, loading, group->cgroup());
    EXPECT_GT(peak_bytes_of(group->cgroup()), file_bytes * 4 / 10);
    EXPECT_LE(peak_bytes_of(group->cgroup()), file_bytes / 2);
    if (loading == GraphLoading::mmap) {
      EXPECT_EQ(cost.status, 0);
      EXPECT_EQ(cost.sum, sum);
      EXPECT_LT(cost.anonymous_bytes, static_cast<double>(file_bytes) / 20);
      EXPECT_EQ(oom_kills_of(group->cgroup()), 0);
    } else {
      EXPECT_TRUE(WIFSIGNALED(cost.status) && WTERMSIG(cost.status) == SIGKILL) << cost.status;
      EXPECT_EQ(oom_kills_of(group->cgroup()), 1);
    }
  }
}

}  // namespace
}  // namespace memduel
