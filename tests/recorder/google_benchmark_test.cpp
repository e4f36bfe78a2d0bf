// memduel::google_benchmark: a benchmark program's own output holds what its benchmarks allocate.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

namespace memduel {
namespace {

constexpr double kBlock = 1000000;
constexpr double kChunk = 4096 + 16;  // a block of this size has pages of its own, and a header

nlohmann::json benchmarks(const std::string& filter) {
  const std::string command =
      MEMDUEL_RECORDER_PROGRAMS
      "/benchmarks --benchmark_format=json --benchmark_min_time=0.01 --benchmark_filter=" +
      filter;
  std::FILE* out = ::popen(command.c_str(), "r");
  std::string text;
  std::array<char, 4096> buffer{};
  while (const std::size_t size = std::fread(buffer.data(), 1, buffer.size(), out))
    text.append(buffer.data(), size);
  EXPECT_EQ(::pclose(out), 0);
  return nlohmann::json::parse(text).at("benchmarks");
}

TEST(GoogleBenchmarkMemory, StandsInTheProgramsOwnOutput) {
  const auto all = benchmarks("an_iteration");
  ASSERT_EQ(all.size(), 2U);
  const auto& two = all.at(0);
  EXPECT_EQ(two.at("run_name"), "two_blocks_an_iteration/iterations:16");
  EXPECT_EQ(two.at("allocs_per_iter").get<double>(), 2);
  EXPECT_NEAR(two.at("max_bytes_used").get<double>(), 2 * kBlock, 2 * kChunk);
  EXPECT_NEAR(two.at("net_heap_growth").get<double>(), 0, 1000);
  const auto& keeps = all.at(1);
  EXPECT_NEAR(keeps.at("net_heap_growth").get<double>(), 8 * kBlock, 8 * kChunk);
  EXPECT_NEAR(keeps.at("total_allocated_bytes").get<double>(), 8 * kBlock, kChunk);
}

// malloc(100) of glibc takes 112 bytes.
TEST(GoogleBenchmarkMemory, IsTheProgramsWithoutTheLibrarys) {
  const auto nothing = benchmarks("nothing").at(0);
  for (const char* figure :
       {"allocs_per_iter", "max_bytes_used", "total_allocated_bytes", "net_heap_growth"})
    EXPECT_EQ(nothing.at(figure).get<double>(), 0) << figure;
  const auto blocks = benchmarks("a_small_block");
  EXPECT_EQ(blocks.size(), 4U);
  for (const auto& block : blocks) {
    SCOPED_TRACE(block.at("name").get<std::string>());
    EXPECT_EQ(block.at("allocs_per_iter").get<double>(), 1);
    EXPECT_EQ(block.at("max_bytes_used").get<double>(), 112);
    EXPECT_EQ(block.at("total_allocated_bytes").get<double>(), 1600);
    EXPECT_EQ(block.at("net_heap_growth").get<double>(), 0);
  }
}

}  // namespace
}  // namespace memduel
