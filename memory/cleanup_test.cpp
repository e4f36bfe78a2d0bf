#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>
#include <thread>

#include "memory/testing/bytes.h"
#include "memory/testing/scripted_device.h"

namespace memduel {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;

TEST(Cleanup, DropsThenWaitsForTheDeviceThenEmptiesItsCache) {
  ScriptedDevice device;
  const CleanupReport report = cleanup_memory({.heap = HeapCleanup::none,
                                               .drop = [&] { device.calls.emplace_back("drop"); },
                                               .device = &device,
                                               .verbose = true});
  EXPECT_THAT(device.calls, ElementsAre("drop", "synchronize", "empty_cache"));
  EXPECT_EQ(report.heap, HeapAction::none);
  EXPECT_EQ(report.before.device_reserved_bytes, 200 * kMebi);
  EXPECT_EQ(report.after.device_reserved_bytes, 100 * kMebi);
  EXPECT_THAT(report.notes, IsEmpty());
}

TEST(Cleanup, LeavesTheDevicesCacheOnRequest) {
  ScriptedDevice device;
  cleanup_memory({.heap = HeapCleanup::none, .device = &device, .empty_device_cache = false});
  EXPECT_THAT(device.calls, ElementsAre("synchronize"));
}

TEST(Cleanup, ADeviceThatCanDoNothingIsANote) {
  ScriptedDevice device;
  device.why = "compiled without CUDA";
  const CleanupReport report = cleanup_memory({.heap = HeapCleanup::none, .device = &device});
  EXPECT_THAT(device.calls, IsEmpty());
  EXPECT_THAT(report.notes, ElementsAre("device: compiled without CUDA"));
}

TEST(Cleanup, AStepThatFailsIsANoteAndTheNextIsDone) {
  ScriptedDevice device;
  device.failure = "device lost";
  const CleanupReport report = cleanup_memory({.heap = HeapCleanup::give_back,
                                               .drop = [] { throw std::runtime_error("held"); },
                                               .device = &device});
  EXPECT_THAT(report.notes, ::testing::Contains("drop failed: held"));
  EXPECT_THAT(report.notes, ::testing::Contains("device failed: device lost"));
  EXPECT_NE(report.heap, HeapAction::none) << "the heap comes last";
  const CleanupReport other = cleanup_memory({.heap = HeapCleanup::none, .drop = [] { throw 1; }});
  EXPECT_THAT(other.notes, ElementsAre("drop failed"));
}

TEST(Cleanup, ReadsMemoryOnlyWhenItIsToTell) {
  EXPECT_FALSE(cleanup_memory().freed_bytes().has_value());
  const CleanupReport report = cleanup_memory({.verbose = true});
  EXPECT_TRUE(report.freed_bytes().has_value());
  EXPECT_THAT(to_string(report),
              MatchesRegex("freed -?[0-9.]+ MiB \\(RSS [0-9.]+ MiB to [0-9.]+ MiB\\), .*"));
}

TEST(Cleanup, TellsTheHeapsTimeFromWhatItTookToDrop) {
  const CleanupReport report =
      cleanup_memory({.drop = [] { std::this_thread::sleep_for(std::chrono::milliseconds(30)); }});
  EXPECT_GT(report.heap_seconds, 0);
  EXPECT_GE(report.seconds, report.heap_seconds + 0.03);
}

TEST(CleanupReport, IsASentence) {
  CleanupReport report;
  report.allocator = Allocator::jemalloc;
  report.heap = HeapAction::left_to_decay;
  report.seconds = 0.00125;
  EXPECT_EQ(to_string(report), "jemalloc left to decay, 1.25 ms");
  report.before = {240 * kMebi, {}, 50 * kMebi};
  report.after = {210 * kMebi, {}, 20 * kMebi};
  report.notes = {"device: lost", "again"};
  EXPECT_EQ(to_string(report),
            "freed 30.0 MiB (RSS 240.0 MiB to 210.0 MiB), device 50.0 MiB to 20.0 MiB, jemalloc "
            "left to decay, 1.25 ms; device: lost; again");
}

}  // namespace
}  // namespace memduel
