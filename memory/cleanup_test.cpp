#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>
#include <thread>

#include "test_system.h"

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

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// "5 light", "10 heavy": the rounds from 1 to `rounds` that end with a cleanup.
std::vector<std::string> cleanups_of(CleanupPolicyOptions options, int rounds) {
  CleanupPolicy policy(std::move(options));
  std::vector<std::string> seen;
  for (int round = 1; round <= rounds; ++round)
    if (const auto event = policy.round_ended(round)) {
      EXPECT_EQ(event->round, round);
      seen.push_back(std::to_string(round) + (event->heavy ? " heavy" : " light"));
    }
  EXPECT_EQ(policy.totals().cleanups, static_cast<int>(seen.size()));
  return seen;
}

TEST(CleanupPolicy, CleansUpEveryNRounds) {
  EXPECT_THAT(cleanups_of({}, 20), IsEmpty());
  EXPECT_THAT(cleanups_of({.light_every = 1}, 3), ElementsAre("1 light", "2 light", "3 light"));
  EXPECT_THAT(cleanups_of({.light_every = 5, .heavy_every = 10}, 21),
              ElementsAre("5 light", "10 heavy", "15 light", "20 heavy"));
  EXPECT_THAT(cleanups_of({.heavy_every = 7}, 20), ElementsAre("7 heavy", "14 heavy"));
}

// CSFL counts rounds from 0 and cleans up where the remainder is 0.
TEST(CleanupPolicy, ACadenceMayBeginWithTheFirstRound) {
  EXPECT_THAT(cleanups_of({.light_every = 5, .heavy_every = 10, .first_round = 1}, 16),
              ElementsAre("1 heavy", "6 light", "11 heavy", "16 light"));
}

TEST(CleanupPolicy, CleansUpEveryNSends) {
  CleanupPolicy policy({.send_every = 3});
  std::vector<int> cleaned;
  for (int send = 1; send <= 7; ++send)
    if (const auto event = policy.sent()) {
      EXPECT_EQ(event->point, CleanupPoint::send);
      EXPECT_FALSE(event->heavy);
      cleaned.push_back(send);
    }
  EXPECT_THAT(cleaned, ElementsAre(3, 6));
  CleanupPolicy never({});
  EXPECT_FALSE(never.sent().has_value());
}

TEST(CleanupPolicy, DoesLightAndHeavyAsTheyWereAskedFor) {
  std::vector<std::string> dropped;
  CleanupPolicy policy(
      {.light_every = 1,
       .heavy_every = 2,
       .light = {.heap = HeapCleanup::none, .drop = [&] { dropped.emplace_back("light"); }},
       .heavy = {.heap = HeapCleanup::none, .drop = [&] { dropped.emplace_back("heavy"); }}});
  policy.round_ended(1);
  policy.round_ended(2);
  policy.ended(CleanupPoint::method);
  EXPECT_THAT(dropped, ElementsAre("light", "heavy", "heavy"));
}

TEST(CleanupPolicy, TellsOfEachCleanupWithItsRound) {
  std::vector<std::string> told;
  CleanupPolicy policy({.light_every = 2, .cleaned = [&](const CleanupEvent& event) {
                          told.push_back(to_string(event).substr(0, 31));
                        }});
  policy.round_ended(1);
  policy.round_ended(2);
  policy.ended(CleanupPoint::repeat);
  EXPECT_THAT(told,
              ElementsAre("round 2: light cleanup (round):", "round 2: heavy cleanup (repeat)"));
}

TEST(CleanupPolicy, GoesOnWhenACallbackThrows) {
  CleanupPolicy policy(
      {.light_every = 1, .cleaned = [](const CleanupEvent&) { throw std::runtime_error("no"); }});
  EXPECT_TRUE(policy.round_ended(1).has_value());
  EXPECT_EQ(policy.totals().cleanups, 1);
  EXPECT_EQ(policy.totals().failed_callbacks, 1);
}

TEST(CleanupPolicy, AListenerMayAskForTotals) {
  CleanupPolicy* asked = nullptr;
  int cleanups = 0;
  CleanupPolicy policy({.light_every = 1, .cleaned = [&](const CleanupEvent&) {
                          cleanups = asked->totals().cleanups;
                        }});
  asked = &policy;
  policy.round_ended(1);
  EXPECT_EQ(cleanups, 1);
}

TEST(CleanupPolicy, CountsSendsOfSeveralThreads) {
  CleanupPolicy policy({.send_every = 10, .light = {.heap = HeapCleanup::none}});
  std::vector<std::thread> clients;
  for (int i = 0; i < 4; ++i)
    clients.emplace_back([&] {
      for (int send = 0; send < 250; ++send) policy.sent();
    });
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(policy.totals().cleanups, 100);
}

class UnderPressure : public ::testing::Test {
 protected:
  void use(std::int64_t percent) const { system_.group_of_version_2(100 * kMebi, percent * kMebi); }
  /// That writes down what it does.
  CleanupPolicyOptions options() {
    return {
        .light_every = 2,
        .light = {.heap = HeapCleanup::none},
        .heavy = {.heap = HeapCleanup::none},
        .pressure = std::make_shared<MemoryPressure>(PressureOptions{.root = system_.root()}),
        .emergency = {.heap = HeapCleanup::none},
        .cleaned =
            [this](const CleanupEvent& event) {
              said_.push_back(std::to_string(event.round) + " " + name_of(event.point));
            },
        .warned = [this](const PressureWarning& warning) { said_.push_back(to_string(warning)); }};
  }

  PreparedSystem system_;
  std::vector<std::string> said_;
};

TEST_F(UnderPressure, WarnsOnceWithTheRoundAndCleansUpWhileItIsCritical) {
  CleanupPolicy policy(options());
  const int used[] = {50, 85, 86, 90, 95, 84, 79, 85};
  for (int round = 1; round <= 8; ++round) {
    use(used[round - 1]);
    policy.round_ended(round);
  }
  EXPECT_THAT(said_,
              ElementsAre("round 2: 85.0% of 100.0 MiB used (its cgroup): warning", "2 round",
                          "round 4: 90.0% of 100.0 MiB used (its cgroup): critical", "4 pressure",
                          "5 pressure", "6 round",
                          "round 8: 85.0% of 100.0 MiB used (its cgroup): warning", "8 round"));
  EXPECT_EQ(policy.totals().warnings, 3);
}

TEST_F(UnderPressure, SeveralPoliciesSeeTheirOwnRounds) {
  const CleanupPolicyOptions shared = options();
  CleanupPolicy server(shared);
  CleanupPolicy trainer(shared);
  use(87);
  server.round_ended(7);
  trainer.round_ended(41);
  EXPECT_THAT(said_, ElementsAre("round 7: 87.0% of 100.0 MiB used (its cgroup): warning",
                                 "round 41: 87.0% of 100.0 MiB used (its cgroup): warning"));
}

TEST_F(UnderPressure, IsLookedAtAsOftenAsAskedFor) {
  CleanupPolicyOptions rarely = options();
  rarely.light_every = 0;
  rarely.pressure_every = 3;
  CleanupPolicy policy(rarely);
  use(95);
  for (int round = 1; round <= 7; ++round) policy.round_ended(round);
  EXPECT_THAT(said_, ElementsAre("round 3: 95.0% of 100.0 MiB used (its cgroup): critical",
                                 "3 pressure", "6 pressure"));
}

TEST_F(UnderPressure, AStallIsWarnedOfOnceToo) {
  CleanupPolicy policy(options());
  use(10);
  system_.group_stall("some avg10=12.00 avg60=0 total=1\nfull avg10=0.00 avg60=0 total=1\n");
  policy.round_ended(1);
  policy.round_ended(3);
  EXPECT_THAT(said_, ElementsAre("round 1: 10.0% of 100.0 MiB used (its cgroup), tasks "
                                 "stalled on memory 12.0% of the time: warning"));
}

TEST(CleanupScope, CleansUpAfterWhatWasDeclaredInIt) {
  std::vector<std::string> order;
  CleanupPolicy policy(
      {.heavy = {.heap = HeapCleanup::none, .drop = [&] { order.emplace_back("cleanup"); }}});
  {
    const CleanupScope scope(policy, CleanupPoint::trial);
    const std::shared_ptr<void> model(nullptr, [&](void*) { order.emplace_back("model is gone"); });
    order.emplace_back("trial");
  }
  EXPECT_THAT(order, ElementsAre("trial", "model is gone", "cleanup"));
}

TEST(CleanupScope, CleansUpWhenAnExceptionEndsIt) {
  std::vector<std::string> points;
  CleanupPolicy policy(
      {.heavy = {.heap = HeapCleanup::none},
       .cleaned = [&](const CleanupEvent& event) { points.emplace_back(name_of(event.point)); }});
  try {
    const CleanupScope trial(policy, CleanupPoint::trial);
    throw std::runtime_error("pruned");
  } catch (const std::runtime_error&) {
    // A whole scope inside of a handler ends without an exception of its own.
    const CleanupScope method(policy, CleanupPoint::method);
  }
  EXPECT_THAT(points, ElementsAre("exception", "method"));
}

std::string refused_policy(const CleanupPolicyOptions& options) {
  try {
    const CleanupPolicy accepted(options);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "accepted";
}

TEST(CleanupPolicy, RefusesNumbersWithoutAMeaning) {
  EXPECT_THAT(refused_policy({.light_every = -1}),
              HasSubstr("light_every: expected a whole number from 0, found -1"));
  EXPECT_THAT(refused_policy({.heavy_every = -7}),
              HasSubstr("heavy_every: expected a whole number from 0, found -7"));
  EXPECT_THAT(refused_policy({.send_every = -1}),
              HasSubstr("send_every: expected a whole number from 0, found -1"));
  EXPECT_THAT(refused_policy({.first_round = -2}),
              HasSubstr("first_round: expected a whole number from 0, found -2"));
  EXPECT_THAT(refused_policy({.pressure_every = -2}),
              HasSubstr("pressure_every: expected a whole number from 0, found -2"));
  EXPECT_THAT(refused_policy({.pressure = std::make_shared<MemoryPressure>(), .pressure_every = 0}),
              HasSubstr("pressure_every: expected a whole number from 1"));
  EXPECT_EQ(refused_policy({.pressure_every = 0}), "accepted");
}

}  // namespace
}  // namespace memduel
