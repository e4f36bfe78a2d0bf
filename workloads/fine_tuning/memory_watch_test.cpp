#include "workloads/fine_tuning/memory_watch.h"

#include <gtest/gtest.h>

namespace memduel {
namespace {

constexpr std::int64_t kMb = 1 << 20;

FineTuningSwitches watching(MemoryBaseline from) {
  FineTuningSwitches switches;
  switches.memory_threshold_mb = 1000;
  switches.memory_baseline = from;
  return switches;
}

TEST(MemoryWatch, IsAboveBeyondTheThresholdAndNotAtIt) {
  std::int64_t resident = 500 * kMb;
  const MemoryWatch watch(watching(MemoryBaseline::trial), [&] { return resident; });
  resident = 1500 * kMb;
  EXPECT_EQ(watch.growth(), 1000 * kMb);
  EXPECT_FALSE(watch.is_above());
  ++resident;
  EXPECT_TRUE(watch.is_above());
  resident = 100 * kMb;
  EXPECT_EQ(watch.growth(), -400 * kMb);
  EXPECT_FALSE(watch.is_above());
}

// CBraMod's manager takes a new baseline for each trial: a leak of 400 MB a trial is never seen.
TEST(MemoryWatch, SlowGrowthIsSeenFromTheStudysBeginOnly) {
  for (const auto from : {MemoryBaseline::trial, MemoryBaseline::study}) {
    std::int64_t resident = 0;
    MemoryWatch watch(watching(from), [&] { return resident; });
    int warnings = 0;
    for (int trial = 1; trial <= 5; ++trial) {
      watch.trial_begins();
      resident += 400 * kMb;
      warnings += watch.is_above() ? 1 : 0;
    }
    EXPECT_EQ(warnings, from == MemoryBaseline::study ? 3 : 0);
  }
}

TEST(MemoryWatch, WhatCannotBeReadIsNeverAbove) {
  const MemoryWatch watch(watching(MemoryBaseline::study), [] { return std::nullopt; });
  EXPECT_FALSE(watch.growth());
  EXPECT_FALSE(watch.is_above());
}

TEST(MemoryWatch, ReadsTheResidentSetOfThisProcess) {
  EXPECT_GT(resident_bytes().value_or(0), 10 * kMb);
}

}  // namespace
}  // namespace memduel
