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

nlohmann::json benchmarks() {
  const std::string command =
      MEMDUEL_RECORDER_PROGRAMS "/benchmarks --benchmark_format=json --benchmark_min_time=0.01";
  std::FILE* out = ::popen(command.c_str(), "r");
  std::string text;
  std::array<char, 4096> buffer{};
  while (const std::size_t size = std::fread(buffer.data(), 1, buffer.size(), out))
    text.append(buffer.data(), size);
  EXPECT_EQ(::pclose(out), 0);
  return nlohmann::json::parse(text).at("benchmarks");
}

TEST(GoogleBenchmarkMemory, StandsInTheProgramsOwnOutput) {
  const auto all = benchmarks();
  ASSERT_EQ(all.size(), 2U);
  const auto& two = all.at(0);
  EXPECT_EQ(two.at("run_name"), "two_blocks_an_iteration/iterations:16");
  EXPECT_NEAR(two.at("allocs_per_iter").get<double>(), 2, 0.2);
  EXPECT_NEAR(two.at("max_bytes_used").get<double>(), 2 * kBlock, 2 * kChunk);
  EXPECT_NEAR(two.at("net_heap_growth").get<double>(), 0, 1000);
  const auto& keeps = all.at(1);
  EXPECT_NEAR(keeps.at("net_heap_growth").get<double>(), 8 * kBlock, 8 * kChunk);
  EXPECT_NEAR(keeps.at("total_allocated_bytes").get<double>(), 8 * kBlock, kChunk);
}

}  // namespace
}  // namespace memduel
