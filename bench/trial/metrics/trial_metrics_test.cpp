#include <gtest/gtest.h>

#include <algorithm>

#include "trial/trial_trace.h"

namespace memduel {
namespace {

TEST(OutsideRounds, KeepTheLargestOfEachPartInTheOrderOfTime) {
  std::vector<OutsideRounds> parts;
  keep_largest(parts, {TrialPart::after_rounds, 8, 9, 300, false});
  keep_largest(parts, {TrialPart::start_up, 1, 2, 700, false});
  keep_largest(parts, {TrialPart::after_rounds, 9, 10, 200, true});
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_EQ(parts[0].part, TrialPart::start_up);
  EXPECT_EQ(parts[1].peak_rss_bytes, 300);
  keep_largest(parts, {TrialPart::after_rounds, 9, 10, 400, true});
  EXPECT_EQ(parts[1].begin_ns, 9);
  EXPECT_TRUE(parts[1].peak_rss_is_sampled);
}

TEST(OutsideRounds, HaveThePeakOfARoundThatDoesNotCount) {
  RoleData role;
  role.rounds = {{1, 0, 10, {{"peak_rss_bytes", 100.0}}, {}},
                 {2, 10, 20, {{"peak_rss_bytes", 300.0}}, {}, true}};
  drop_rounds_after(role, 1);
  ASSERT_EQ(role.rounds.size(), 1U);
  ASSERT_EQ(role.outside_rounds.size(), 1U);
  EXPECT_EQ(role.outside_rounds[0].part, TrialPart::after_rounds);
  EXPECT_EQ(role.outside_rounds[0].peak_rss_bytes, 300);
  EXPECT_EQ(role.outside_rounds[0].begin_ns, 10);
  EXPECT_TRUE(role.outside_rounds[0].peak_rss_is_sampled);
}

// A synthetic stream of marks whose metrics follow from the definitions.

constexpr std::int64_t kSecond = 1'000'000'000;

/// A mark with a peak and an RSS in bytes; a tenth of the RSS is file-backed.
MarkEvent at(std::int64_t second, Mark::Kind kind, std::int64_t peak, std::int64_t rss) {
  MarkEvent event;
  event.mark.kind = kind;
  event.mark.t_ns = second * kSecond;
  event.mark.sizes = {peak, rss, rss - rss / 10, rss / 10};
  return event;
}

MarkEvent round_mark(std::int64_t second, Mark::Kind kind, int round, std::int64_t peak,
                     std::int64_t rss, double cpu, double faults) {
  MarkEvent event = at(second, kind, peak, rss);
  event.mark.round = round;
  event.reading.counters = {{"cpu_seconds", cpu}, {"minor_faults_count", faults}};
  event.reading.values = {{"swapped_bytes", faults}, {"handles_count", cpu}};
  return event;
}

MarkEvent phase(std::int64_t second, const std::string& name, std::int64_t peak, std::int64_t rss) {
  MarkEvent event = at(second, Mark::Kind::phase, peak, rss);
  event.mark.name = name;
  return event;
}

MarkEvent gauge(std::int64_t second, const std::string& name, double value) {
  MarkEvent event;
  event.mark.kind = Mark::Kind::gauge;
  event.mark.t_ns = second * kSecond;
  event.mark.name = name;
  event.mark.value = value;
  return event;
}

using Kind = Mark::Kind;

/// Start-up peaks at 900; idle is 200; round 1 peaks at 500 in train, round 2 at 450 outside
/// phases.
RoleTrace two_rounds() {
  RoleTrace trace;
  trace.role = "server";
  trace.begin_ns = 1 * kSecond;
  trace.marks = {
      at(2, Kind::idle, 900, 200),
      gauge(2, "heap_in_use_bytes", 11),
      round_mark(3, Kind::round_begin, 1, 250, 250, 1.0, 100),
      phase(4, "load", 300, 280),
      gauge(4, "train_loss", 2.5),
      gauge(4, "peak_torch_cpu_bytes", 70),
      phase(5, "train", 320, 310),
      phase(7, "", 500, 400),
      gauge(7, "heap_in_use_bytes", 33),
      round_mark(8, Kind::round_end, 1, 410, 380, 3.5, 160),
      round_mark(9, Kind::round_begin, 2, 385, 380, 3.75, 161),
      gauge(9, "train_loss", 1.5),
      gauge(9, "peak_torch_cpu_bytes", 60),
      round_mark(11, Kind::round_end, 2, 450, 390, 5.0, 171),
  };
  trace.exit = ExitRecord{12 * kSecond, 0, {}, 5.5, 890, 175, 2};
  trace.ended_well = true;
  return trace;
}

TEST(RoleMetrics, PeakOfARoundIsTheMaximumOfItsStretches) {
  const RoleData data = role_metrics(two_rounds(), {});
  ASSERT_EQ(data.rounds.size(), 2U);
  EXPECT_EQ(data.rounds[0].metrics.at("peak_rss_bytes"), 500);
  EXPECT_EQ(data.rounds[1].metrics.at("peak_rss_bytes"), 450);
  EXPECT_EQ(data.rounds[0].metrics.at("end_rss_bytes"), 380);
  EXPECT_EQ(data.rounds[0].metrics.at("round_seconds"), 5);
  EXPECT_EQ(data.rounds[0].metrics.at("cpu_seconds"), 2.5);
  EXPECT_EQ(data.rounds[0].metrics.at("minor_faults_count"), 60);
  EXPECT_EQ(data.rounds[0].metrics.at("peak_rss_anon_bytes"), 360);
  EXPECT_EQ(data.rounds[0].metrics.at("peak_rss_file_bytes"), 40);
  EXPECT_EQ(data.rounds[1].metrics.at("swapped_bytes"), 171);
  EXPECT_EQ(data.rounds[1].metrics.at("handles_count"), 5) << "of a meter that nobody knows";
}

TEST(RoleMetrics, PhasesHaveTheirOwnPeaksAndTimes) {
  const auto phases = role_metrics(two_rounds(), {}).rounds.at(0).phases;
  ASSERT_EQ(phases.size(), 2U);
  EXPECT_EQ(phases[0].phase, "load");
  EXPECT_EQ(phases[0].begin_ns, 4 * kSecond);
  EXPECT_EQ(phases[0].end_ns, 5 * kSecond);
  EXPECT_EQ(phases[0].metrics.at("peak_rss_bytes"), 320);
  EXPECT_EQ(phases[1].metrics.at("peak_rss_bytes"), 500);
}

/// What the metric's definition says, of every role.
void expect_peak_of_parts(const RoleData& role) {
  double largest = 0;
  for (const RoundData& round : role.rounds)
    largest = std::max(largest, round.metrics.value("peak_rss_bytes").value_or(0));
  for (const OutsideRounds& part : role.outside_rounds)
    largest = std::max(largest, part.peak_rss_bytes);
  EXPECT_EQ(role.metrics.at("peak_rss_bytes"), largest) << role.role;
  if (!role.metrics.contains("idle_rss_bytes")) return;
  EXPECT_EQ(role.metrics.at("idle_rss_bytes") + role.metrics.at("peak_rss_above_idle_bytes"),
            largest)
      << role.role;
}

double outside(const RoleData& role, TrialPart part) {
  const auto found = std::ranges::find(role.outside_rounds, part, &OutsideRounds::part);
  return found == role.outside_rounds.end() ? 0 : found->peak_rss_bytes;
}

TEST(RoleMetrics, PeakAboveIdleIsThePeakMinusIdle) {
  const RoleData data = role_metrics(two_rounds(), {});
  EXPECT_EQ(data.metrics.at("idle_rss_bytes"), 200);
  EXPECT_EQ(data.metrics.at("peak_rss_bytes"), 900);
  EXPECT_EQ(data.metrics.at("peak_rss_above_idle_bytes"), 700) << "start-up counts as well";
  EXPECT_EQ(data.metrics.at("end_rss_bytes"), 390);
  EXPECT_EQ(data.metrics.at("cpu_seconds"), 5.5);
  EXPECT_EQ(data.metrics.at("minor_faults_count"), 175);
  EXPECT_EQ(data.exit_status, 0);
}

TEST(RoleMetrics, WhatIsOutsideRoundsHasItsPeaks) {
  RoleTrace trace = two_rounds();
  trace.exit->max_rss_bytes = 1100;
  const RoleData data = role_metrics(trace, {});
  EXPECT_EQ(outside(data, TrialPart::start_up), 900);
  EXPECT_EQ(outside(data, TrialPart::between_rounds), 385) << "from one round's end to the next";
  EXPECT_EQ(outside(data, TrialPart::after_rounds), 1100) << "the kernel's maximum at the end";
  EXPECT_EQ(data.metrics.at("peak_rss_bytes"), 1100);
  EXPECT_FALSE(data.peak_rss_is_sampled);
  expect_peak_of_parts(data);
}

TEST(RoleMetrics, TheKernelsMaximumIsTheLastRoundsWhichEndsWithTheProcess) {
  RoleTrace trace = two_rounds();
  trace.marks.pop_back();
  trace.exit->max_rss_bytes = 1100;
  trace.rss.t_ns = {11 * kSecond};
  trace.rss.values = {600};
  RoleData data = role_metrics(trace, {});
  ASSERT_EQ(data.rounds.size(), 2U);
  EXPECT_EQ(data.rounds[1].metrics.at("peak_rss_bytes"), 1100);
  EXPECT_FALSE(data.rounds[1].peak_rss_is_sampled);
  expect_peak_of_parts(data);
  trace.ended_well = false;
  data = role_metrics(trace, {});
  ASSERT_EQ(data.rounds.size(), 1U) << "cut short";
  EXPECT_EQ(outside(data, TrialPart::after_rounds), 1100);
  expect_peak_of_parts(data);
  trace.exit->max_rss_bytes = 900;
  trace.ended_well = true;
  data = role_metrics(trace, {});
  EXPECT_EQ(data.rounds[1].metrics.at("peak_rss_bytes"), 600) << "the kernel's is of the start-up";
  EXPECT_TRUE(data.rounds[1].peak_rss_is_sampled);
  EXPECT_FALSE(data.rounds[0].peak_rss_is_sampled);
  EXPECT_FALSE(data.peak_rss_is_sampled);
}

TEST(RoleMetrics, OfSeveralProcessesTheLargestStandsBesideTheSum) {
  RoleTrace trace = two_rounds();
  trace.has_several_processes = true;
  trace.rss.t_ns = {4 * kSecond, 6 * kSecond, 10 * kSecond};
  trace.rss.values = {333, 1777, 222};
  trace.process_peaks = {"", {6 * kSecond, 10 * kSecond}, {640, 1230}};
  const RoleData data = role_metrics(trace, {});
  EXPECT_EQ(data.metrics.at("peak_largest_process_rss_bytes"), 1230);
  EXPECT_EQ(data.metrics.at("peak_rss_bytes"), 1777);
  EXPECT_EQ(data.rounds[1].metrics.at("peak_rss_bytes"), 1230) << "no less than one of them";
  EXPECT_TRUE(data.peak_rss_is_sampled);
  expect_peak_of_parts(data);
  EXPECT_FALSE(role_metrics(two_rounds(), {}).metrics.contains("peak_largest_process_rss_bytes"));
}

TEST(RoleMetrics, GaugesBelongToTheirRoundAndTheTrialKeepsTheLastOrTheHighest) {
  const RoleData data = role_metrics(two_rounds(), {});
  EXPECT_EQ(data.rounds[0].metrics.at("train_loss"), 2.5);
  EXPECT_EQ(data.rounds[0].metrics.at("heap_in_use_bytes"), 33);
  EXPECT_EQ(data.rounds[1].metrics.count("heap_in_use_bytes"), 0U);
  EXPECT_EQ(data.metrics.at("train_loss"), 1.5);
  EXPECT_EQ(data.metrics.at("heap_in_use_bytes"), 33);
  EXPECT_EQ(data.metrics.at("peak_torch_cpu_bytes"), 70);
}

TEST(RoleMetrics, APeakGaugeIsOfThePhaseThatItEndsToo) {
  RoleTrace trace;
  trace.role = "client-1";
  trace.ended_well = true;
  trace.marks = {round_mark(1, Kind::round_begin, 1, 0, 0, 0, 0),
                 phase(2, "train", 0, 0),
                 gauge(3, "peak_gpu_allocated_bytes", 70),
                 gauge(3, "train_loss", 0.5),
                 phase(3, "load", 0, 0),
                 gauge(4, "peak_gpu_allocated_bytes", 50),
                 round_mark(4, Kind::round_end, 1, 0, 0, 0, 0)};
  const RoleData data = role_metrics(trace, {});
  const RoundData& round = data.rounds[0];
  EXPECT_EQ(round.metrics.at("peak_gpu_allocated_bytes"), 70);
  ASSERT_EQ(round.phases.size(), 2U);
  EXPECT_EQ(round.phases[0].metrics.at("peak_gpu_allocated_bytes"), 70);
  EXPECT_EQ(round.phases[1].metrics.at("peak_gpu_allocated_bytes"), 50);
  EXPECT_FALSE(round.phases[0].metrics.contains("train_loss"));
}

TEST(RoleMetrics, ADurationOfARoundIsNoneOfTheTrials) {
  RoleTrace trace = two_rounds();
  trace.marks.insert(trace.marks.begin() + 4, gauge(4, "transfer_seconds", 0.25));
  trace.marks.insert(trace.marks.begin(), gauge(1, "setup_seconds", 3));
  const RoleData data = role_metrics(trace, {});
  EXPECT_EQ(data.rounds[0].metrics.at("transfer_seconds"), 0.25);
  EXPECT_FALSE(data.metrics.contains("transfer_seconds"));
  EXPECT_EQ(data.metrics.at("setup_seconds"), 3);
}

TEST(RoleMetrics, ARoundCutShortByAFailureIsNoRound) {
  RoleTrace trace = two_rounds();
  trace.marks.pop_back();
  trace.ended_well = false;
  EXPECT_EQ(role_metrics(trace, {}).rounds.size(), 1U);
  // A program that marks only where rounds begin ends its last one by ending.
  trace.ended_well = true;
  const RoleData data = role_metrics(trace, {});
  ASSERT_EQ(data.rounds.size(), 2U);
  EXPECT_EQ(data.rounds[1].end_ns, 12 * kSecond);
  EXPECT_EQ(data.rounds[1].metrics.count("end_rss_bytes"), 0U);
}

TEST(RoleMetrics, ANewRoundEndsTheRunningOneAndAStrayEndChangesNothing) {
  RoleTrace trace = two_rounds();
  trace.marks = {at(2, Kind::idle, 200, 200),
                 round_mark(3, Kind::round_end, 7, 210, 200, 0, 0),
                 round_mark(4, Kind::round_begin, 1, 220, 220, 0, 0),
                 round_mark(5, Kind::round_begin, 2, 300, 230, 0, 0),
                 round_mark(6, Kind::round_end, 1, 310, 240, 0, 0),
                 round_mark(7, Kind::round_end, 2, 305, 250, 0, 0)};
  const RoleData data = role_metrics(trace, {});
  ASSERT_EQ(data.rounds.size(), 2U);
  EXPECT_EQ(data.rounds[0].metrics.at("peak_rss_bytes"), 300);
  EXPECT_EQ(data.rounds[0].metrics.at("end_rss_bytes"), 230);
  EXPECT_EQ(data.rounds[1].metrics.at("peak_rss_bytes"), 310);
  EXPECT_EQ(data.rounds[1].end_ns, 7 * kSecond);
}

TEST(RoleMetrics, WithoutPeakResetSamplesStandForRounds) {
  RoleTrace trace = two_rounds();
  trace.peaks_reset = false;
  trace.rss.t_ns = {4 * kSecond, 6 * kSecond, 10 * kSecond};
  trace.rss.values = {333, 444, 222};
  const RoleData data = role_metrics(trace, {});
  EXPECT_EQ(data.rounds[0].metrics.at("peak_rss_bytes"), 444);
  EXPECT_EQ(data.rounds[1].metrics.at("peak_rss_bytes"), 390);
  EXPECT_EQ(data.metrics.at("peak_rss_bytes"), 900);
}

TEST(RoleMetrics, ARoleWithoutMarksIsOneRoundOfSamples) {
  RoleTrace trace;
  trace.role = "command";
  trace.begin_ns = 10;
  trace.rss = {"rss_bytes", {20, 30, 40}, {100, 700, 300}};
  trace.exit = ExitRecord{50, 0, {}, 0.25, 800, 5, 0};
  trace.ended_well = true;
  RoleData data = role_metrics(trace, {});
  ASSERT_EQ(data.rounds.size(), 1U);
  EXPECT_EQ(data.rounds[0].begin_ns, 10);
  EXPECT_EQ(data.rounds[0].end_ns, 50);
  EXPECT_EQ(data.rounds[0].metrics.at("peak_rss_bytes"), 800);
  EXPECT_EQ(data.metrics.at("peak_rss_bytes"), 800);
  EXPECT_EQ(data.metrics.count("idle_rss_bytes"), 0U);
  EXPECT_EQ(data.metrics.count("peak_rss_above_idle_bytes"), 0U);

  trace.ready_ns = 15;
  trace.ready_rss_bytes = 100;
  data = role_metrics(trace, {});
  EXPECT_EQ(data.metrics.at("idle_rss_bytes"), 100);
  EXPECT_EQ(data.metrics.at("peak_rss_above_idle_bytes"), 700);
}

TEST(RoleMetrics, PhasesWithoutRoundsBelongToTheOneRoundOfTheWholeLife) {
  RoleTrace trace = two_rounds();
  trace.marks = {at(2, Kind::idle, 300, 200), phase(3, "load", 310, 210),
                 phase(6, "train", 400, 380), phase(8, "", 950, 500)};
  trace.rss.t_ns = {9 * kSecond};
  trace.rss.values = {520};
  const RoleData data = role_metrics(trace, {});
  ASSERT_EQ(data.rounds.size(), 1U);
  const RoundData& life = data.rounds.front();
  EXPECT_EQ(life.round, 1);
  EXPECT_EQ(life.metrics.at("round_seconds"), 11);
  EXPECT_EQ(data.metrics.at("peak_rss_bytes"), 950);
  EXPECT_EQ(life.metrics.at("cpu_seconds"), 5.5);
  ASSERT_EQ(life.phases.size(), 2U);
  EXPECT_EQ(life.phases[0].phase, "load");
  EXPECT_EQ(life.phases[0].metrics.at("peak_rss_bytes"), 400);
  EXPECT_EQ(life.phases[1].phase, "train");
  EXPECT_EQ(life.phases[1].metrics.at("peak_rss_bytes"), 950);
  EXPECT_EQ(life.metrics.at("peak_rss_bytes"), 950) << "what a phase had the life had";
}

TEST(RoleMetrics, APhaseThatNothingEndsLastsToTheEndOfTheLife) {
  RoleTrace trace = two_rounds();
  trace.marks = {phase(3, "load", 310, 210)};
  const RoleData data = role_metrics(trace, {});
  ASSERT_EQ(data.rounds.size(), 1U);
  ASSERT_EQ(data.rounds[0].phases.size(), 1U);
  EXPECT_EQ(data.rounds[0].phases[0].end_ns, 12 * kSecond);
}

TEST(RoleTrace, NamesPhasesOutsideItsRounds) {
  RoleTrace trace = two_rounds();
  EXPECT_TRUE(phases_outside_rounds(trace).empty());
  trace.marks.insert(trace.marks.begin(), {phase(1, "warm", 1, 1), phase(1, "", 1, 1)});
  trace.marks.push_back(phase(11, "save", 1, 1));
  trace.marks.push_back(phase(12, "warm", 1, 1));
  EXPECT_EQ(phases_outside_rounds(trace), (std::vector<std::string>{"warm", "save"}));
  trace.marks = {phase(3, "load", 310, 210)};
  EXPECT_TRUE(phases_outside_rounds(trace).empty()) << "without rounds the life is one";
}

TEST(RoleMetrics, SeveralProcessesOfARoleAreNoLessThanTheirSampledSum) {
  RoleTrace trace = two_rounds();
  trace.has_several_processes = true;
  trace.rss.t_ns = {4 * kSecond, 6 * kSecond, 10 * kSecond};
  trace.rss.values = {333, 777, 222};
  const RoleData data = role_metrics(trace, {});
  EXPECT_EQ(data.rounds[0].metrics.at("peak_rss_bytes"), 777);
  EXPECT_EQ(data.rounds[1].metrics.at("peak_rss_bytes"), 450) << "the marking process alone had it";
}

TEST(RoleMetrics, WhatAProcessUsedThatOthersOutlivedIsNotTheRoles) {
  RoleTrace trace;
  trace.role = "server";
  trace.begin_ns = 10;
  trace.rss = {"rss_bytes", {20, 30, 40}, {100, 700, 300}};
  trace.exit = ExitRecord{50, 0, {}, 0.25, 800, 5, 0};
  trace.outlived_its_process = true;
  const RoleData data = role_metrics(trace, {});
  EXPECT_EQ(data.metrics.at("peak_rss_bytes"), 700);
  EXPECT_EQ(data.metrics.count("cpu_seconds"), 0U);
  EXPECT_EQ(data.exit_status, 0);
}

TEST(RoleMetrics, WithoutAnIdleMarkReadinessIsTheIdleLevelWhereItCameBeforeTheFirstRound) {
  RoleTrace trace = two_rounds();
  trace.marks.erase(trace.marks.begin());
  EXPECT_FALSE(role_metrics(trace, {}).metrics.contains("idle_rss_bytes"))
      << "the first mark may come after the model";
  trace.ready_ns = kSecond;
  trace.ready_rss_bytes = 250;
  const RoleData data = role_metrics(trace, {});
  EXPECT_EQ(data.metrics.at("idle_rss_bytes"), 250);
  EXPECT_EQ(data.metrics.at("peak_rss_above_idle_bytes"), 640) << "of 890, the kernel's maximum";
  trace.ready_ns = 9 * kSecond;
  EXPECT_FALSE(role_metrics(trace, {}).metrics.contains("idle_rss_bytes")) << "in a round";
}

TEST(RoleMetrics, PssBelongsToTheRoundThatHadJustEnded) {
  const std::vector<PssSweep> sweeps = {{2 * kSecond, {{"server", 150.0}}, true},
                                        {8 * kSecond, {{"server", 340.0}}, true},
                                        {10 * kSecond, {{"server", 399.0}}, true},
                                        {12 * kSecond, {{"client-1", 1.0}}, true}};
  RoleTrace trace = two_rounds();
  trace.rss = {"rss_bytes", {8 * kSecond, 10 * kSecond}, {380, 880}};
  const RoleData data = role_metrics(trace, sweeps);
  EXPECT_EQ(data.rounds[0].metrics.at("end_pss_bytes"), 340);
  EXPECT_EQ(data.rounds[1].metrics.count("end_pss_bytes"), 0U);
  EXPECT_EQ(data.metrics.count("end_pss_bytes"), 0U);
  EXPECT_EQ(data.metrics.at("peak_pss_bytes"), 399);
}

TEST(RoleMetrics, PssReadFarFromThePeakOrBelowAnonymousMemoryIsNoPeak) {
  const std::vector<PssSweep> sweeps = {{10 * kSecond, {{"server", 399.0}}, true}};
  RoleTrace trace = two_rounds();
  trace.rss = {"rss_bytes", {8 * kSecond, 9 * kSecond, 10 * kSecond}, {880, 900, 700}};
  EXPECT_FALSE(role_metrics(trace, sweeps).metrics.contains("peak_pss_bytes"));
  trace.rss.values.back() = 880;
  EXPECT_TRUE(role_metrics(trace, sweeps).metrics.contains("peak_pss_bytes"));
  trace.marks.front().mark.sizes.anon = 400;
  EXPECT_FALSE(role_metrics(trace, sweeps).metrics.contains("peak_pss_bytes"));
}

TrialTrace server_and_client() {
  TrialTrace trace;
  trace.roles.push_back(two_rounds());
  RoleTrace client;
  client.role = "client-1";
  client.begin_ns = 2 * kSecond;
  client.marks = {at(3, Kind::idle, 60, 50)};
  client.exit = ExitRecord{11 * kSecond, 0, {}, 1.5, 600, 25, 1};
  client.ended_well = true;
  trace.roles.push_back(client);
  trace.tree.rss = {"rss_bytes",
                    {1 * kSecond, 4 * kSecond, 6 * kSecond, 8 * kSecond, 10 * kSecond},
                    {1200, 640, 720, 610, 655}};
  return trace;
}

TrialTrace with_roles(TrialTrace trace, std::vector<RoleData>& roles) {
  for (const RoleTrace& role : trace.roles) roles.push_back(role_metrics(role, trace.sweeps));
  return trace;
}

TEST(TreeMetrics, PeaksAreTheLargestSampledSums) {
  std::vector<RoleData> roles;
  const TrialTrace trace = with_roles(server_and_client(), roles);
  const RoleData tree = tree_metrics(trace, roles);
  EXPECT_EQ(tree.role, "all");
  EXPECT_EQ(tree.metrics.at("peak_rss_bytes"), 1200);
  EXPECT_EQ(tree.metrics.at("idle_rss_bytes"), 250);
  EXPECT_EQ(tree.metrics.at("peak_rss_above_idle_bytes"), 1200 - 250);
  EXPECT_EQ(tree.metrics.at("peak_largest_process_rss_bytes"), 900);
  EXPECT_TRUE(tree.peak_rss_is_sampled);
  EXPECT_EQ(outside(tree, TrialPart::start_up), 1200);
  expect_peak_of_parts(tree);
  EXPECT_EQ(tree.metrics.at("cpu_seconds"), 7.0);
  EXPECT_EQ(tree.metrics.at("major_faults_count"), 3);
  ASSERT_EQ(tree.rounds.size(), 2U);
  EXPECT_EQ(tree.rounds[0].metrics.at("peak_rss_bytes"), 720);
  EXPECT_EQ(tree.rounds[1].metrics.at("peak_rss_bytes"), 655);
  EXPECT_EQ(tree.rounds[1].metrics.count("end_rss_bytes"), 0U) << "the client had no second round";
  EXPECT_FALSE(tree.exit_status.has_value());
}

TEST(TreeMetrics, ARoundEndsWithWhatEachRoleHeldAtItsOwnEnd) {
  std::vector<RoleData> roles(2);
  for (int i : {0, 1}) {
    roles[i].role = i == 0 ? "server" : "client-1";
    roles[i].rounds = {{1, 0, 10 + i, {{"end_rss_bytes", 100.0 + i}}, {}},
                       {2, 20, 30 + i, {{"end_rss_bytes", 200.0 + i}}, {}}};
  }
  TrialTrace trace;
  // Sampled after the client had gone.
  trace.tree.rss = {"rss_bytes", {29, 31}, {200, 200}};
  const RoleData tree = tree_metrics(trace, roles);
  EXPECT_EQ(tree.rounds[0].metrics.at("end_rss_bytes"), 201);
  EXPECT_EQ(tree.metrics.at("end_rss_bytes"), 401);
}

TEST(TreeMetrics, IsNeverLessThanOneOfItsProcesses) {
  TrialTrace trace = server_and_client();
  trace.tree.rss.values = {200, 200, 200, 200, 200};
  std::vector<RoleData> roles;
  trace = with_roles(trace, roles);
  EXPECT_EQ(tree_metrics(trace, roles).metrics.at("peak_rss_bytes"), 900);
  EXPECT_EQ(tree_metrics(trace, roles).metrics.at("peak_rss_above_idle_bytes"), 900 - 250);
  expect_peak_of_parts(tree_metrics(trace, roles));
}

TEST(TreeMetrics, OfOneProcessHasThePeaksOfTheProcess) {
  TrialTrace trace = server_and_client();
  trace.roles.resize(1);
  trace.tree.rss.values = {200, 200, 200, 200, 200};
  std::vector<RoleData> roles;
  trace = with_roles(trace, roles);
  const RoleData tree = tree_metrics(trace, roles);
  EXPECT_EQ(tree.metrics.at("peak_rss_above_idle_bytes"), 700);
  EXPECT_EQ(tree.rounds[0].metrics.at("peak_rss_bytes"), 500);
  EXPECT_EQ(tree.rounds[1].metrics.at("peak_rss_bytes"), 450);
  EXPECT_EQ(outside(tree, TrialPart::start_up), 900);
  EXPECT_FALSE(tree.peak_rss_is_sampled);
  expect_peak_of_parts(tree);
}

TEST(TreeMetrics, RolesThatWereIdleOneAfterTheOtherWereNeverIdleTogether) {
  TrialTrace trace = server_and_client();
  trace.tree.rss.values = {200, 200, 200, 200, 200};
  trace.roles[1].marks = {at(3, Kind::idle, 860, 850)};
  std::vector<RoleData> roles;
  trace = with_roles(trace, roles);
  const RoleData tree = tree_metrics(trace, roles);
  EXPECT_EQ(tree.metrics.at("idle_rss_bytes"), 900) << "no more than the peak";
  expect_peak_of_parts(tree);
}

TEST(TreeMetrics, WhatOneRoleLacksTheTreeLacks) {
  TrialTrace trace = server_and_client();
  trace.roles[1].marks.clear();
  trace.roles[1].exit.reset();
  std::vector<RoleData> roles;
  trace = with_roles(trace, roles);
  const RoleData tree = tree_metrics(trace, roles);
  EXPECT_EQ(tree.metrics.count("idle_rss_bytes"), 0U);
  EXPECT_EQ(tree.metrics.count("peak_rss_above_idle_bytes"), 0U);
  EXPECT_EQ(tree.metrics.count("cpu_seconds"), 0U);
}

TEST(TreeMetrics, SumsWhatEachProcessHasInOneRoleAlone) {
  TrialTrace trace = server_and_client();
  trace.roles[1].of_descendants = true;
  std::vector<RoleData> roles;
  trace = with_roles(trace, roles);
  for (const char* name : {"swapped_bytes", "allocated_bytes", "live_at_end_bytes"}) {
    roles[0].metrics[name] = 40;
    roles[1].metrics[name] = 2;
    EXPECT_EQ(tree_metrics(trace, roles).metrics.at(name), 42) << name;
    roles[1].metrics.erase(name);
    EXPECT_FALSE(tree_metrics(trace, roles).metrics.contains(name)) << name;
  }
}

TEST(TreeMetrics, CpuTimeOfDescendantsIsInTheirParents) {
  TrialTrace trace = server_and_client();
  RoleTrace trainer;
  trainer.role = "trainer";
  trainer.rss = {"rss_bytes", {4 * kSecond}, {70}};
  trainer.of_descendants = true;
  trace.roles.push_back(trainer);
  std::vector<RoleData> roles;
  trace = with_roles(trace, roles);
  const RoleData tree = tree_metrics(trace, roles);
  EXPECT_EQ(tree.metrics.at("cpu_seconds"), 7.0);
  EXPECT_EQ(tree.metrics.at("idle_rss_bytes"), 250);
  EXPECT_EQ(tree.metrics.at("peak_rss_above_idle_bytes"), 1200 - 250);
}

TEST(TreeMetrics, PssCountsOnlyWhereEveryRoleWasRead) {
  TrialTrace trace = server_and_client();
  trace.sweeps = {{8 * kSecond, {{"server", 340.0}, {"client-1", 60.0}}, true},
                  {12 * kSecond, {{"server", 999.0}}, false}};
  trace.tree.rss = {"rss_bytes", {1 * kSecond, 8 * kSecond}, {1000, 980}};
  trace.peak_cgroup_bytes = 4242;
  trace.cgroup_parts = {4000, 100, 0, {}};
  trace.cgroup_rounds = {{2, 4100}};
  std::vector<RoleData> roles;
  trace = with_roles(trace, roles);
  const RoleData tree = tree_metrics(trace, roles);
  EXPECT_EQ(tree.metrics.at("peak_pss_bytes"), 400);
  EXPECT_EQ(tree.rounds[0].metrics.at("end_pss_bytes"), 400);
  EXPECT_EQ(tree.metrics.at("peak_cgroup_bytes"), 4242);
  EXPECT_EQ(tree.rounds[0].metrics.count("peak_cgroup_bytes"), 0U);
  EXPECT_EQ(tree.rounds[1].metrics.at("peak_cgroup_bytes"), 4100);
  EXPECT_EQ(tree.metrics.at("peak_cgroup_anon_bytes"), 4000);
  EXPECT_EQ(tree.metrics.at("peak_cgroup_shmem_bytes"), 0);
  EXPECT_EQ(tree.metrics.count("peak_cgroup_kernel_bytes"), 0U) << "not known here";
  EXPECT_EQ(tree.metrics.count("peak_shared_once_bytes"), 0U) << "not sampled here";
}

TEST(TreeMetrics, SharedPagesAreTheGroupsPeakWithoutCacheOrTheLargestSample) {
  TrialTrace trace = server_and_client();
  trace.peak_cgroup_bytes = 4242;
  trace.shared_once = SharedOnce{3000, 1000, 700};
  std::vector<RoleData> roles;
  trace = with_roles(trace, roles);
  EXPECT_EQ(tree_metrics(trace, roles).metrics.at("peak_shared_once_bytes"), 3242);
  EXPECT_EQ(tree_metrics(trace, roles).metrics.at("rss_counted_again_bytes"), 700);
  trace.shared_once->besides = 2000;
  EXPECT_EQ(tree_metrics(trace, roles).metrics.at("peak_shared_once_bytes"), 3000);
}

}  // namespace
}  // namespace memduel
