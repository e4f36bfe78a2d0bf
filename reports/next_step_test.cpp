#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reports/report_model.h"
#include "test_sample_run.h"
#include "util/command_line.h"

namespace memduel {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

const json kOneCommand = json::parse(R"([{"role": "command", "argv": ["./sort", "my file"]}])");
const json kServerAndClient = json::parse(R"([{"role": "server", "argv": ["s"]},
                                             {"role": "client", "argv": ["c"]}])");

/// The sample's candidate with such a server: in bytes.
ReportModel with_held(double held, double peak, double arenas, const json& processes,
                      const json& candidate) {
  Sample sample = make_sample({.series = false});
  json second = candidate;
  second["name"] = "optimized";
  sample.run.config = document_of_run(
      {{"workload", {{"processes", processes}}}, {"variants", {{{"name", "original"}}, second}}});
  sample.results.comparisons.clear();
  for (const auto& [metric, value] :
       std::vector<std::pair<std::string, double>>{{"heap_free_bytes", held},
                                                   {"peak_rss_bytes", peak},
                                                   {"allocator_arena_count", arenas}}) {
    Comparison row;
    row.baseline = "original";
    row.candidate = "optimized";
    row.role = "server";
    row.metric = metric;
    row.baseline_median = 1;
    row.candidate_median = value;
    sample.results.comparisons.push_back(row);
  }
  return build_report_model(sample.results, sample.run);
}

constexpr double kMebibyte = 1 << 20;

TEST(NextStep, IsAnArmOfTheCommandWithTheSetting) {
  const auto step = with_held(50 * kMebibyte, 200 * kMebibyte, 14, kOneCommand,
                              json::parse(R"({"env": {"A": "1"}})"))
                        .results.first_screen.next_step;
  ASSERT_TRUE(step);
  EXPECT_EQ(
      step->sentence,
      "No memory regression was found. Optional: malloc retains up to 50.0 MiB after "
      "free, in 14 arenas of optimized (server). Limiting malloc to two arenas may reduce it:")
      << "what the allocator counts is no share of resident memory";
  const CommandLine command = split_command_line(step->command);
  ASSERT_EQ(command.argv.size(), 6U);
  const CommandLine tried = split_command_line(command.argv[5]);
  EXPECT_EQ(split_command_line(command.argv[3]).argv, tried.argv);
  EXPECT_EQ(tried.env, (std::map<std::string, std::string>{{"A", "1"}, {"MALLOC_ARENA_MAX", "2"}}));
}

TEST(NextStep, OfSeveralProcessesSetsTheArmsEnvironment) {
  const auto step = with_held(50 * kMebibyte, 200 * kMebibyte, 2, kServerAndClient, json::object())
                        .results.first_screen.next_step;
  ASSERT_TRUE(step);
  EXPECT_THAT(step->sentence, HasSubstr("in 2 arenas"));
  EXPECT_THAT(split_command_line(step->command).argv,
              ElementsAre("memduel", "run", "config.json", "--set",
                          "variants.optimized.env.MALLOC_TRIM_THRESHOLD_=\"131072\""));
}

TEST(NextStep, IsNoneWhereLittleIsHeldOrTheArmDecidesItself) {
  const json none = json::object();
  EXPECT_FALSE(with_held(15 * kMebibyte, 20 * kMebibyte, 14, kOneCommand, none)
                   .results.first_screen.next_step);
  EXPECT_FALSE(with_held(19 * kMebibyte, 200 * kMebibyte, 14, kOneCommand, none)
                   .results.first_screen.next_step);
  EXPECT_FALSE(with_held(50 * kMebibyte, 200 * kMebibyte, 14, kOneCommand,
                         json::parse(R"({"allocator": "jemalloc"})"))
                   .results.first_screen.next_step);
  EXPECT_FALSE(with_held(50 * kMebibyte, 200 * kMebibyte, 14, kOneCommand,
                         json::parse(R"({"env": {"MALLOC_ARENA_MAX": "1"}})"))
                   .results.first_screen.next_step);
}

/// A duel of one gate row with such a verdict.
Sample one_check(Verdict verdict, GateOutcome outcome) {
  Sample sample = make_sample({.series = false});
  sample.results.comparisons.resize(1);
  Comparison& row = sample.results.comparisons[0];
  row.baseline = "original";
  row.candidate = "optimized";
  row.role = "all";
  row.metric = "peak_rss_bytes";
  row.gate = true;
  row.verdict = verdict;
  row.blocks_needed.reset();
  GateResult gate;
  gate.gate = "all.peak_rss_bytes<=+1%";
  gate.role = "all";
  gate.metric = "peak_rss_bytes";
  gate.candidate = "optimized";
  gate.outcome = outcome;
  sample.results.gates = {gate};
  sample.results.overall.outcome = outcome == GateOutcome::failed   ? OverallOutcome::failed
                                   : outcome == GateOutcome::passed ? OverallOutcome::passed
                                                                    : OverallOutcome::inconclusive;
  sample.results.growth.clear();
  sample.results.equivalence.clear();
  sample.results.differences.clear();
  sample.results.resident.clear();
  return sample;
}

std::optional<Suggestion> step_after(const Sample& sample) {
  return build_report_model(sample.results, sample.run).results.first_screen.next_step;
}

TEST(NextStep, IsTheNumberOfBlocksThatSettlesWhatIsNotDecided) {
  Sample sample = one_check(Verdict::inconclusive, GateOutcome::inconclusive);
  sample.results.comparisons[0].minimum_detectable.reset();
  EXPECT_THAT(step_after(sample)->sentence, HasSubstr("Rerun with more, here 16 each:"))
      << "nobody knows how many";
  sample.results.comparisons[0].blocks_needed = 24;
  const auto step = step_after(sample);
  ASSERT_TRUE(step);
  EXPECT_THAT(step->sentence,
              testing::StrEq("A new run of 24 trials each (about 3 min) should decide the gate:"));
  EXPECT_THAT(split_command_line(step->command).argv,
              ElementsAre("memduel", "run", "config.json", "--repeats", "24"));
  sample.results.environment["reproduce"] =
      "memduel compare --ref-a 1 --ref-b 2 --repeats 4 -- './a b'";
  EXPECT_THAT(split_command_line(step_after(sample)->command).argv,
              ElementsAre("memduel", "compare", "--ref-a", "1", "--ref-b", "2", "--repeats", "24",
                          "--", "./a b"));
  for (const char* other : {"something 'else", "memduel watch -- ./srv", "memduel compare r1 r2"}) {
    sample.results.environment["reproduce"] = other;
    EXPECT_FALSE(step_after(sample)) << other << " has no --repeats";
  }
  sample.results.environment.erase("reproduce");
  sample.results.comparisons[0].blocks_needed = 5000;
  EXPECT_THAT(step_after(sample)->sentence, HasSubstr("here 16 each:")) << "nobody runs so many";
}

TEST(NextStep, IsToLookAtTheOtherProcessesWhereMostOfAFailureIsThere) {
  Sample sample = one_check(Verdict::regressed, GateOutcome::failed);
  Comparison& row = sample.results.comparisons[0];
  row.baseline_median = 500.0;
  for (const char* arm : {"original", "optimized"}) {
    ResidentMemory memory;
    memory.arm = arm;
    memory.role = "all";
    memory.bytes = 480;
    memory.owners = {{"live", "", 480}};
    sample.results.resident.push_back(memory);
  }
  row.candidate_median = 500.0;
  EXPECT_FALSE(step_after(sample)) << "the snapshots show it all";
  row.candidate_median = 900.0;
  const auto step = step_after(sample);
  ASSERT_TRUE(step);
  EXPECT_THAT(step->sentence, HasSubstr("other processes"));
}

TEST(NextStep, IsToMakeRunsMoreAlikeWhereNoNumberOfBlocksSettlesIt) {
  Sample sample = one_check(Verdict::inconclusive, GateOutcome::inconclusive);
  sample.results.comparisons[0].ratio = 1.05;
  sample.results.comparisons[0].minimum_detectable = 0.19;
  ASSERT_TRUE(step_after(sample));
  EXPECT_THAT(
      step_after(sample)->sentence,
      HasSubstr(
          "detect a change of 19.0% of all processes peak RSS or more, and even 64 would not"));
}

TEST(NextStep, BeginsWithWhatAFailedGatesArmHasMore) {
  Sample sample = one_check(Verdict::regressed, GateOutcome::failed);
  EXPECT_FALSE(step_after(sample)) << "without a profile nobody knows where";
  ReportModel model = build_report_model(sample.results, sample.run);
  model.causes = {{"+9.00 MiB", "all other live blocks", true, ""},
                  {"−5.00 MiB", "freed", false, "program-break"},
                  {"+4.00 MiB", "grow (live blocks)", true, "grow"}};
  const auto step = next_step(model);
  ASSERT_TRUE(step);
  EXPECT_THAT(step->sentence, testing::StrEq("Do not adopt optimized as it is. Look at grow."));
  EXPECT_EQ(step->command, "");
  model.causes.push_back({"+8.00 MiB", "Java heap", true, "Java heap", "mapped", "", "", 8});
  EXPECT_THAT(
      next_step(model)->sentence,
      testing::StrEq("Do not adopt optimized as it is. Look at Java heap first, the largest "
                     "increase. To see inside, run jcmd PID GC.class_histogram."));
}

TEST(NextStep, NamesTheToolThatShowsTheHeapOfGoWhichNoProfileShows) {
  Sample sample = one_check(Verdict::regressed, GateOutcome::failed);
  sample.results.limitations.push_back({kGoHeapNote, "", ""});
  ASSERT_TRUE(step_after(sample));
  EXPECT_THAT(step_after(sample)->sentence,
              HasSubstr("go tool pprof http://localhost:6060/debug/pprof/heap"));
  sample = one_check(Verdict::unchanged, GateOutcome::passed);
  sample.results.limitations.push_back({kGoHeapNote, "", ""});
  EXPECT_FALSE(step_after(sample));
}

TEST(NextStep, IsToDecideTheTimeIfNothingElseIsOpen) {
  Sample sample = one_check(Verdict::unchanged, GateOutcome::passed);
  EXPECT_FALSE(step_after(sample));
  Comparison time = sample.results.comparisons[0];
  time.gate = false;
  time.metric = "round_seconds";
  time.verdict = Verdict::inconclusive;
  time.blocks_needed = 40;
  sample.results.comparisons.push_back(time);
  const auto step = step_after(sample);
  ASSERT_TRUE(step);
  EXPECT_THAT(step->sentence, testing::StrEq("If the time of optimized matters, a new run of 40 "
                                             "trials each (about 5 min) should decide it:"));
  EXPECT_THAT(step->command, testing::EndsWith("--repeats 40"));
  sample.results.comparisons.back().blocks_needed = 12;
  EXPECT_THAT(step_after(sample)->command, testing::EndsWith("--repeats 16"))
      << "twice the trials at least";
  sample.results.comparisons.back().blocks_needed.reset();
  EXPECT_FALSE(step_after(sample)) << "nobody knows how many decide it";
}

TEST(NextStep, SaysThatNothingSpeaksAgainstAnArmOnlyWhereNothingDoes) {
  Sample sample = one_check(Verdict::improved, GateOutcome::passed);
  ASSERT_TRUE(step_after(sample));
  EXPECT_THAT(step_after(sample)->sentence,
              HasSubstr("optimized can be adopted: no regression was found."));
  Sample slower = sample;
  slower.results.comparisons.push_back(sample.results.comparisons[0]);
  Comparison& time = slower.results.comparisons[1];
  time.gate = false;
  time.metric = "round_seconds";
  time.verdict = Verdict::regressed;
  time.baseline_median = 1;
  time.candidate_median = 1.12;
  time.ratio = 1.12;
  time.ci_low = 1.1;
  time.ci_high = 1.14;
  EXPECT_THAT(step_after(slower)->sentence,
              HasSubstr("optimized can be adopted if 10.0 to 14.0% more time is acceptable."));
  Sample grows = sample;
  Growth growth;
  growth.arm = "optimized";
  growth.role = "all";
  growth.metric = "rss_growth_bytes_per_round";
  growth.verdict = GrowthVerdict::growing;
  grows.results.growth = {growth};
  EXPECT_FALSE(step_after(grows));
  Sample other = sample;
  Equivalence equivalence;
  equivalence.candidate = "optimized";
  equivalence.bit_identical = false;
  other.results.equivalence = {equivalence};
  EXPECT_FALSE(step_after(other));
  EXPECT_FALSE(step_after(one_check(Verdict::unchanged, GateOutcome::passed))) << "it is no better";
}

TEST(NextStep, IsToGiveTheProgramSymbolsWhereACauseHasNoName) {
  Sample sample = make_sample({.series = false, .snapshots = true});
  for (Difference& difference : sample.results.differences)
    if (difference.stack.front() == "live")
      difference.stack = {"live", "sort+0x599e", "sort+0x6e8c"};
  ReportModel model = build_report_model(sample.results, sample.run);
  ASSERT_THAT(model.causes.at(0).name, testing::StartsWith("sort+0x6e8c"));
  ASSERT_TRUE(model.results.first_screen.next_step);
  EXPECT_THAT(model.results.first_screen.next_step->sentence, HasSubstr("sort has no symbols"));
  model.causes[0].name = "mapped by sort+0x6e8c";
  EXPECT_THAT(next_step(model)->sentence, HasSubstr("sort has no symbols"));
  model.results.gates.at(0).outcome = GateOutcome::failed;
  model.causes[0].more = true;
  EXPECT_THAT(next_step(model)->sentence, HasSubstr("sort has no symbols"))
      << "a place is no function to look at";
}

}  // namespace
}  // namespace memduel
