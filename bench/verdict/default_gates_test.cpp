#include <gmock/gmock.h>

#include <algorithm>

#include "support/synthetic_run.h"
#include "verdict/analyse.h"
#include "verdict/gates.h"

namespace memduel {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::Not;

constexpr double kBytesOfMebibyte = 1 << 20;

TEST(DefaultGates, ReadBackAsGates) {
  for (const JobFacts& job : {server_and_clients(2), JobFacts()}) {
    EXPECT_EQ(default_gates(job).size(), job.default_gates.size());
    for (const Gate& gate : default_gates(job)) {
      EXPECT_TRUE(gate.is_default);
      EXPECT_EQ(parse_gate(gate.text).metric, gate.metric);
    }
  }
}

/// Six blocks of a duel whose whole job has these metrics.
RunData six_blocks(const Metrics& of_a, const Metrics& of_b, const std::string& role = kTree) {
  RunData run = make_duel(kPeakRss, {}, {});
  for (int block = 1; block <= 6; ++block) {
    run.trials.push_back(make_trial("a", block, role, of_a));
    run.trials.push_back(make_trial("b", block, role, of_b));
  }
  return run;
}

std::vector<RoleMetric> asked(const RunData& run) {
  std::vector<RoleMetric> rows;
  for (const Gate& gate : default_gates(run)) rows.push_back({gate.role, gate.metric});
  return rows;
}

TEST(MisleadingSum, CountsTheMemoryOfAJobThatForksAgain) {
  const RunData run = six_blocks({{kPeakRss, 160 * kBytesOfMebibyte},
                                  {kPeakSharedOnce, 150 * kBytesOfMebibyte},
                                  {kRssCountedAgain, 0}},
                                 {{kPeakRss, 256 * kBytesOfMebibyte},
                                  {kPeakSharedOnce, 64 * kBytesOfMebibyte},
                                  {kRssCountedAgain, 190 * kBytesOfMebibyte}});
  EXPECT_EQ(misleading_sum(run)->bytes, 190 * kBytesOfMebibyte);
  EXPECT_THAT(asked(run), ElementsAre(RoleMetric{kTree, kPeakHeapAndMapped},
                                      RoleMetric{kTree, kPeakSharedOnce}));
}

TEST(MisleadingSum, IsNoneForLibrariesAlone) {
  const Metrics mostly_libraries = {{kPeakRss, 600 * kBytesOfMebibyte},
                                    {kPeakSharedOnce, 100 * kBytesOfMebibyte},
                                    {kRssCountedAgain, 9 * kBytesOfMebibyte}};
  const RunData run = six_blocks(mostly_libraries, mostly_libraries);
  EXPECT_FALSE(misleading_sum(run).has_value()) << "9 MiB of 100 are counted again";
  EXPECT_THAT(asked(run), Contains(RoleMetric{kTree, kPeakRss}));
}

/// Peaks of the whole job in MiB, by RSS and by PSS.
RunData by_pss(double a_rss, double a_pss, double b_rss, double b_pss) {
  return six_blocks({{kPeakRss, a_rss * kBytesOfMebibyte}, {kPeakPss, a_pss * kBytesOfMebibyte}},
                    {{kPeakRss, b_rss * kBytesOfMebibyte}, {kPeakPss, b_pss * kBytesOfMebibyte}});
}

TEST(MisleadingSum, IsKnownByTheProportionalSetWithoutAControlGroup) {
  EXPECT_EQ(misleading_sum(by_pss(400, 390, 440, 100))->asked, (RoleMetric{kTree, kPeakPss}));
  EXPECT_TRUE(misleading_sum(by_pss(400, 100, 800, 110)).has_value()) << "most of it, in both arms";
  EXPECT_FALSE(misleading_sum(by_pss(600, 380, 500, 280)).has_value()) << "libraries, in both arms";
  EXPECT_FALSE(misleading_sum(by_pss(40, 38, 40, 10)).has_value()) << "30 MiB";
}

TEST(MisleadingSum, OfMappedFilesIsKnownByTheProportionalSet) {
  RunData run = by_pss(840, 810, 840, 230);
  for (TrialData& trial : run.trials) {
    trial.roles.front().metrics[kRssCountedAgain] = 0;
    trial.roles.front().metrics[kPeakSharedOnce] = 30 * kBytesOfMebibyte;
  }
  EXPECT_EQ(misleading_sum(run)->asked, (RoleMetric{kTree, kPeakPss}));
}

TEST(MisleadingSum, LeavesOutWhatNoProcessMaps) {
  const auto in_memory_or_tmpfs = [](double tmpfs) {
    return six_blocks({{kPeakRss, 120 * kBytesOfMebibyte},
                       {kPeakSharedOnce, 110 * kBytesOfMebibyte},
                       {kRssCountedAgain, 0}},
                      {{kPeakRss, 20 * kBytesOfMebibyte},
                       {kPeakSharedOnce, (10 + tmpfs) * kBytesOfMebibyte},
                       {kRssCountedAgain, 0}});
  };
  const RunData run = in_memory_or_tmpfs(100);
  EXPECT_EQ(misleading_sum(run)->how, MisleadingSum::How::leaves_out);
  EXPECT_THAT(asked(run), Contains(RoleMetric{kTree, kPeakSharedOnce}));
  EXPECT_FALSE(misleading_sum(in_memory_or_tmpfs(0)).has_value());
}

TEST(MisleadingSum, MayBeThatOfOneRole) {
  RunData run = six_blocks({{kPeakRss, 400 * kBytesOfMebibyte}, {kPeakPss, 390 * kBytesOfMebibyte}},
                           {{kPeakRss, 440 * kBytesOfMebibyte}, {kPeakPss, 100 * kBytesOfMebibyte}},
                           "server");
  run.job.roles = {"server", "client"};
  EXPECT_EQ(misleading_sum(run)->asked, (RoleMetric{"server", kPeakPss}));
}

TEST(MisleadingSum, IsNotKnownWhereATrialDoesNotTell) {
  RunData run =
      six_blocks({{kPeakRss, 400 * kBytesOfMebibyte}, {kPeakPss, 390 * kBytesOfMebibyte}},
                 {{kPeakRss, 440 * kBytesOfMebibyte}, {kPeakPss, 100 * kBytesOfMebibyte}});
  run.trials.back().roles.front().metrics.erase(kPeakPss);
  EXPECT_FALSE(misleading_sum(run).has_value());
}

TEST(MisleadingSum, IsNotAskedForByDefault) {
  RunData run = six_blocks({{kPeakRss, 160 * kBytesOfMebibyte},
                            {kPeakSharedOnce, 150 * kBytesOfMebibyte},
                            {kRssCountedAgain, 0}},
                           {{kPeakRss, 256 * kBytesOfMebibyte},
                            {kPeakSharedOnce, 64 * kBytesOfMebibyte},
                            {kRssCountedAgain, 190 * kBytesOfMebibyte}});
  const auto has_note = Contains(Field(&Note::code, "misleading_sum"));
  AnalysisSettings settings;
  settings.looks = fixed_looks(6);
  settings.design = Design::superblocks;
  const Results by_default = analyse(run, settings);
  EXPECT_THAT(by_default.limitations, has_note);
  EXPECT_EQ(by_default.row("b", kTree, kPeakSharedOnce)->verdict, Verdict::improved);
  EXPECT_TRUE(by_default.row("b", kTree, kPeakSharedOnce)->is_asked());
  settings.gates = {parse_gate("all.peak_rss_bytes<=+1%")};
  const Results named = analyse(run, settings);
  EXPECT_THAT(named.limitations, Not(has_note));
  EXPECT_THAT(named.warnings, has_note);
  EXPECT_EQ(named.row("b", kTree, kPeakRss)->verdict, Verdict::regressed);
  settings.gates = {};
  run.job = server_and_clients(2);
  EXPECT_THAT(analyse(run, settings).limitations, Not(has_note)) << "they ask for no sum";
}

}  // namespace
}  // namespace memduel
