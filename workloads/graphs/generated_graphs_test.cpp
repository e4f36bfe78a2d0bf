#include "workloads/graphs/generated_graphs.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/scratch_directory.h"
#include "workloads/graphs/graph_file.h"

namespace memduel {
namespace {

TEST(GeneratedGraphs, AreAsManyAsWantedWithAndWithoutAttacks) {
  const ScratchDirectory scratch(testing::TempDir(), "generated");
  write_generated_graphs(scratch.path() / "a", 2500, 1);
  const auto store = open_graphs(scratch.path() / "a", GraphLoading::mmap);
  ASSERT_EQ(store->size(), 2500U);
  EXPECT_EQ(store->identifiers(), 35U);
  for (std::size_t i = 0; i < 1000; ++i) EXPECT_EQ(store->graph(i).label, 0) << i;
  std::size_t attacks = 0;
  for (std::size_t i = 1000; i < 2500; ++i) attacks += store->graph(i).label;
  EXPECT_GT(attacks, 500U);
  EXPECT_LT(attacks, 1500U);
}

TEST(GeneratedGraphs, TheFewestThatAConfigMayAskForHaveAttacks) {
  const ScratchDirectory scratch(testing::TempDir(), "generated");
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    write_generated_graphs(scratch.path() / "few", kFewestGraphs, seed);
    const auto store = open_graphs(scratch.path() / "few", GraphLoading::mmap);
    std::int64_t attacks = 0;
    for (std::size_t i = 0; i < store->size(); ++i) attacks += store->graph(i).label;
    EXPECT_GT(attacks, 30) << seed;
  }
}

TEST(GeneratedGraphs, TheSeedDecides) {
  const ScratchDirectory scratch(testing::TempDir(), "generated");
  for (const std::uint64_t seed : {1, 2})
    write_generated_graphs(scratch.path() / std::to_string(seed), 50, seed);
  write_generated_graphs(scratch.path() / "again", 50, 1);
  EXPECT_EQ(read_file(scratch.path() / "1"), read_file(scratch.path() / "again"));
  EXPECT_NE(read_file(scratch.path() / "1"), read_file(scratch.path() / "2"));
}

}  // namespace
}  // namespace memduel
