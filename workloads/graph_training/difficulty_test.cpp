#include "workloads/graph_training/difficulty.h"

#include <gtest/gtest.h>

#include "workloads/graph_training/test_sample_graphs.h"

namespace memduel {
namespace {

class CountedCache : public DeviceMemory {
 public:
  [[nodiscard]] std::string limitation() const override { return ""; }
  [[nodiscard]] std::optional<DeviceBytes> bytes() const override { return std::nullopt; }
  void synchronize() override {}
  void empty_cache() override { ++emptied; }
  int emptied = 0;
};

TEST(DifficultyScoring, ChunkedEmptiesTheCacheAfterEveryChunkAndTheLast) {
  const SampleGraphs file(30);
  const auto store = file.open();
  Vgae network(VgaeShape{{8, 4}, 4, 1, 2, 2}, 35);
  const auto emptied = [&](std::size_t count, DifficultyScoring scoring) {
    const std::vector<std::size_t> graphs(count, 7);
    CountedCache cache;
    score_graphs(network, *store, graphs, scoring, 64, at::kCPU, cache);
    return cache.emptied;
  };
  EXPECT_EQ(emptied(499, DifficultyScoring::chunked), 1);
  EXPECT_EQ(emptied(500, DifficultyScoring::chunked), 1);
  EXPECT_EQ(emptied(501, DifficultyScoring::chunked), 2);
  EXPECT_EQ(emptied(501, DifficultyScoring::one_by_one), 0);
  EXPECT_EQ(emptied(501, DifficultyScoring::batched), 0);
}

}  // namespace
}  // namespace memduel
