#include "words.h"

#include <gmock/gmock.h>

namespace memduel {
namespace {

const JobFacts kJob;

Comparison server_peak(double ratio, double low, double high, Verdict verdict) {
  Comparison c;
  c.baseline = "original";
  c.candidate = "optimized";
  c.role = "server";
  c.metric = "peak_rss_bytes";
  c.ratio = ratio;
  c.ci_low = low;
  c.ci_high = high;
  c.n_baseline = 12;
  c.n_candidate = 12;
  c.margin = 0.01;
  c.verdict = verdict;
  return c;
}

TEST(EffectSentence, SaysLessWithTheIntervalAsShares) {
  EXPECT_EQ(effect_sentence(kJob, server_peak(0.59, 0.57, 0.62, Verdict::improved)).text(),
            "optimized uses 41% LESS server memory at its peak than original (38–43%, 12 blocks): "
            "improved");
}

TEST(EffectSentence, SaysMoreWhenTheCandidateNeedsMore) {
  EXPECT_EQ(effect_sentence(kJob, server_peak(1.34, 1.30, 1.38, Verdict::regressed)).text(),
            "optimized uses 34% MORE server memory at its peak than original (30–38%, 12 blocks): "
            "regressed");
}

TEST(EffectSentence, AddsDigitsWhereBothEndsOfTheIntervalWouldReadTheSame) {
  EXPECT_EQ(effect_sentence(kJob, server_peak(0.5, 0.498, 0.502, Verdict::improved)).text(),
            "optimized uses 50% LESS server memory at its peak than original (49.8–50.2%, 12 "
            "blocks): improved");
}

TEST(EffectSentence, ShowsOneNumberForAnIntervalOfNoWidth) {
  EXPECT_EQ(effect_sentence(kJob, server_peak(0.678, 0.67799, 0.67801, Verdict::improved)).text(),
            "optimized uses 32% LESS server memory at its peak than original (±<0.01%, 12 blocks): "
            "improved");
}

TEST(EffectSentence, TellsALargeChangeAsAMultiple) {
  Comparison c = server_peak(843.2, 840.4, 845.1, Verdict::regressed);
  EXPECT_EQ(
      effect_sentence(kJob, c).text(),
      "optimized uses 843 TIMES AS MUCH server memory at its peak as original (840–845 times, "
      "12 blocks): regressed");
  EXPECT_EQ(short_effect(c), "843 TIMES AS MUCH (840–845 times, 12 blocks)");
  c.exact = true;
  EXPECT_EQ(short_effect(c), "843 TIMES AS MUCH (exactly, 12 blocks)");
}

TEST(EffectSentence, TellsAMultipleFromTwiceAsMuchOn) {
  EXPECT_EQ(short_effect(server_peak(1.999, 1.91, 2.4, Verdict::regressed)),
            "100% MORE (91–140%, 12 blocks)");
  EXPECT_EQ(short_effect(server_peak(2, 1.9, 2.1, Verdict::regressed)),
            "2.0 TIMES AS MUCH (1.9–2.1 times, 12 blocks)");
  EXPECT_EQ(short_effect(server_peak(2.93, 2.91, 2.94, Verdict::regressed)),
            "2.9 TIMES AS MUCH (2.91–2.94 times, 12 blocks)");
  EXPECT_EQ(short_effect(server_peak(2.93, 2.9301, 2.9302, Verdict::regressed)),
            "2.9 TIMES AS MUCH (±<0.01 times, 12 blocks)");
  EXPECT_EQ(short_effect(server_peak(1.2, 0.9, 2.4, Verdict::inconclusive)),
            "not decided (−10% to 2.4 times, 12 blocks)");
}

TEST(EffectSentence, OfAnUndeclaredMetricIsNeitherBetterNorWorse) {
  Comparison c = server_peak(2, 2, 2, Verdict::changed);
  c.metric = "throughput";
  c.exact = true;
  EXPECT_EQ(effect_sentence(kJob, c).text(),
            "optimized has 2.0 TIMES AS MUCH server throughput as original (exactly, 12 blocks): "
            "changed");
}

TEST(EffectSentence, ShowsNoIntervalOfWhatWasCountedAlike) {
  Comparison c = server_peak(1, 1, 1, Verdict::unchanged);
  c.exact = true;
  EXPECT_EQ(short_effect(c), "the SAME (exactly, 12 blocks)");
  c.ratio = c.ci_low = c.ci_high = 0.9997;
  EXPECT_EQ(short_effect(c), "the SAME (−0.03% ±<0.01%, 12 blocks)");
}

TEST(EffectSentence, GivesAMarginAboveTheBaselineAsAnAmount) {
  Comparison c = server_peak(1.1, 0.9, 1.2, Verdict::unchanged);
  c.baseline_median = 4096;
  c.margin = 15;
  EXPECT_NE(effect_sentence(kJob, c).text().find("inside the margin of ±60.0 KiB"),
            std::string::npos);
}

TEST(EffectSentence, SpeaksOfRoundsOnlyWhereAJobHasThem) {
  Comparison c = server_peak(0.5, 0.4, 0.6, Verdict::improved);
  c.metric = "round_seconds";
  JobFacts job;
  EXPECT_NE(effect_sentence(job, c).text().find("server time per round than"), std::string::npos);
  job.is_one_round = true;
  EXPECT_NE(effect_sentence(job, c).text().find("server time than"), std::string::npos);
}

TEST(EffectSentence, SaysSameOnlyWithTheMarginThatProvesIt) {
  EXPECT_EQ(effect_sentence(kJob, server_peak(1.0, 0.996, 1.003, Verdict::unchanged)).text(),
            "optimized uses the SAME server memory at its peak as original (−0.40% to +0.30%, 12 "
            "blocks, inside the margin of ±1.0%): unchanged");
}

TEST(EffectSentence, SignsAnIntervalWhoseSideNoWordSays) {
  const Comparison c = server_peak(0.995, 0.9947, 0.9955, Verdict::unchanged);
  EXPECT_NE(effect_sentence(kJob, c).text().find("(−0.53% to −0.45%, "), std::string::npos);
  EXPECT_EQ(short_effect(c), "the SAME (−0.53% to −0.45%, 12 blocks)");
  EXPECT_EQ(short_effect(server_peak(1.3, 1.2, 1.4, Verdict::inconclusive)),
            "not decided (+20% to +40%, 12 blocks)");
}

TEST(EffectSentence, CannotTellWhenInconclusiveAndSaysHowManyBlocksWould) {
  Comparison c = server_peak(0.97, 0.92, 1.03, Verdict::inconclusive);
  c.blocks_needed = 20;
  EXPECT_EQ(
      effect_sentence(kJob, c).text(),
      "Cannot tell whether optimized uses MORE or LESS server memory at its peak than original "
      "(−8.0% to +3.0%, 12 blocks): inconclusive; about 20 blocks would settle it");
}

TEST(EffectSentence, CannotTellWithoutAnEffect) {
  Comparison c = server_peak(1, 1, 1, Verdict::inconclusive);
  c.ratio.reset();
  c.ci_low.reset();
  c.ci_high.reset();
  c.n_candidate = 1;
  EXPECT_EQ(
      effect_sentence(kJob, c).text(),
      "Cannot tell whether optimized uses MORE or LESS server memory at its peak than original "
      "(1 block): inconclusive");
}

TEST(EffectSentence, ComparesGrowthAsADifference) {
  Comparison c = server_peak(1, 1, 1, Verdict::improved);
  c.metric = "rss_growth_bytes_per_round";
  c.ratio.reset();
  c.difference = -12.0 * 1024 * 1024;
  c.ci_low = -13.0 * 1024 * 1024;
  c.ci_high = -11.0 * 1024 * 1024;
  EXPECT_EQ(effect_sentence(kJob, c).text(),
            "optimized grows 12.0 MiB/round LESS server memory per round than original (−13.0 "
            "MiB/round to −11.0 MiB/round, 12 blocks): improved");
}

TEST(EffectSentence, NamesAMetricThatHasNoWordsOfItsOwn) {
  Comparison c = server_peak(0.5, 0.4, 0.6, Verdict::improved);
  c.metric = "queue_depth_count";
  EXPECT_EQ(effect_sentence(kJob, c).text(),
            "optimized has 50% LESS server queue_depth_count than original (40–60%, 12 blocks): "
            "improved");
}

TEST(GrowthSentence, SaysWhenMemoryRunsOut) {
  Growth g;
  g.arm = "original";
  g.role = "server";
  g.metric = "rss_growth_bytes_per_round";
  g.slope = 0.78 * 1024 * 1024 * 1024;
  g.verdict = GrowthVerdict::growing;
  g.reason = "adds 798.7 MiB a round (790.0 MiB to 810.0 MiB)";
  g.projection = Projection{24.0 * 1024 * 1024 * 1024, 31.0, 30.0, 33.0, 62.5};
  Growth flat = g;
  flat.arm = "optimized";
  flat.verdict = GrowthVerdict::flat;
  flat.reason = "stays near 2.00 GiB";
  flat.projection.reset();
  EXPECT_EQ(
      growth_sentence(kJob, {&g, &flat}).text(),
      "server memory from round to round: original adds 798.7 MiB a round (790.0 MiB to 810.0 "
      "MiB) and meets the 24.0 GiB limit in round 31 (30–33), 62 min 30 s after the first "
      "began; optimized stays near 2.00 GiB");
}

TEST(GrowthSentence, SaysOfWhichArmsNothingCanBeToldYet) {
  Growth g;
  g.arm = "original";
  g.role = "all";
  g.metric = "rss_growth_bytes_per_minute";
  g.reason = "cannot tell yet: 12 minutes would";
  Growth flat = g;
  flat.arm = "optimized";
  flat.verdict = GrowthVerdict::flat;
  flat.reason = "stays near 2.00 GiB";
  EXPECT_EQ(growth_sentence(kJob, {&g, &flat}).text(),
            "whole-job memory from minute to minute: original: cannot tell yet: 12 minutes would; "
            "optimized stays near 2.00 GiB");
}

TEST(GrowthSentence, SaysOnceThatNothingCanBeToldOfAnyArm) {
  Growth g;
  g.arm = "original";
  g.role = "server";
  g.metric = "rss_growth_bytes_per_round";
  g.reason = "cannot tell yet: 434.5 KiB a round so far; 50 rounds would";
  g.ci_low = -5.0;
  g.rounds_needed = 50;
  Growth other = g;
  other.arm = "optimized";
  other.reason = "cannot tell yet: 1.06 MiB a round so far; 67 rounds would";
  other.rounds_needed = 67;
  EXPECT_EQ(growth_sentence(kJob, {&g, &other}).text(),
            "server memory from round to round: cannot tell yet whether it grows; 67 rounds would");
  other.ci_low = 1.0;
  EXPECT_THAT(growth_sentence(kJob, {&g, &other}).text(), testing::HasSubstr("1.06 MiB"));
}

TEST(FileSentence, SaysInHowManyBlocksAndByHowMuch) {
  const Equivalence e{"before", "after", false, {}, {}};
  FileEquivalence file{"model", 8, 8, {}, {}, {}};
  EXPECT_EQ(file_sentence(e, file),
            "model is byte by byte the same with after and before, in 8 blocks.");
  file.identical_blocks = 5;
  EXPECT_EQ(file_sentence(e, file), "model differs between after and before in 3 of 8 blocks.");
  file.max_difference = 0.0012;
  EXPECT_EQ(file_sentence(e, file),
            "model differs between after and before in 3 of 8 blocks, by at most 0.0012.");
  file.max_within_baseline = 0.001;
  EXPECT_EQ(file_sentence(e, file),
            "model differs between after and before in 3 of 8 blocks, by at most 0.0012; trials of "
            "before differ from each other by at most 0.001.");
}

TEST(FileSentence, SaysWhatIsPrintedInPlaceOfWhat) {
  const Equivalence e{"before", "after", false, {}, {}};
  FileEquivalence file{kStandardOutput, 8, 0, {}, {}, LineDifference{3, "sum 45", "sum 45.0"}};
  EXPECT_THAT(
      file_sentence(e, file),
      testing::EndsWith("in 8 of 8 blocks, first in line 3: “sum 45.0” in place of “sum 45”."));
  file.first_difference->candidate.clear();
  EXPECT_THAT(file_sentence(e, file),
              testing::EndsWith("in line 3: nothing in place of “sum 45”."));
}

TEST(FileSentence, SaysWhatCanBeComparedOfAFileThatVaries) {
  const Equivalence e{"before", "after", {}, {}, {}};
  FileEquivalence file{kStandardOutput, 8, 0, {}, {}, {}, Variation{}};
  EXPECT_EQ(file_sentence(e, file),
            "standard output varies between trials of the same variant, so it cannot be compared.");
  file.variation = Variation{3, 1, {3}, 0};
  EXPECT_EQ(file_sentence(e, file),
            "standard output varies between trials of the same variant (line 3), so it cannot be "
            "compared; its other 2 lines are identical with after and before.");
  file.variation = Variation{9, 5, {3, 4, 7}, 1};
  file.first_difference = LineDifference{1, "tiny 1.0", "tiny 2.0"};
  EXPECT_EQ(file_sentence(e, file),
            "standard output varies between trials of the same variant (lines 3, 4, 7 and 2 more), "
            "so it cannot be compared; of its other 4 lines, 1 differs, first in line 1: “tiny "
            "2.0” in place of “tiny 1.0”.");
  file.variation = Variation{2, 2, {1, 2}, 0};
  EXPECT_EQ(file_sentence(e, file),
            "standard output varies between trials of the same variant (lines 1, 2), so it cannot "
            "be compared.");
  file.max_difference = 0.0012;
  EXPECT_THAT(file_sentence(e, file), testing::HasSubstr("by at most 0.0012"))
      << "a command compares what bytes cannot";
}

TEST(ModelSentence, DistinguishesIdenticalDifferentAndUnknown) {
  Equivalence e{"original", "optimized", true, 0.0, {}};
  EXPECT_EQ(model_sentence(e), "The final models of optimized and original are bit-identical.");
  e.bit_identical = false;
  e.max_abs_diff = 0.00012;
  EXPECT_EQ(model_sentence(e),
            "The final models of optimized and original differ by at most 0.00012 in any element.");
  e.bit_identical.reset();
  e.max_abs_diff.reset();
  EXPECT_EQ(model_sentence(e), "");
}

TEST(AllocatorSentence, NamesWhatWasSeenNotWhatWasAskedFor) {
  ArmSummary plain;
  plain.name = "a";
  EXPECT_EQ(allocator_sentence({plain}), "");
  ArmSummary jemalloc = plain;
  jemalloc.name = "b";
  jemalloc.allocator = "jemalloc";
  jemalloc.allocator_libraries = {"/usr/lib/x86_64-linux-gnu/libjemalloc.so.2"};
  ArmSummary failed = jemalloc;
  failed.name = "c";
  failed.allocator_libraries.clear();
  EXPECT_EQ(
      allocator_sentence({plain, jemalloc, failed}),
      "Allocators, seen inside the processes: b ran under jemalloc (libjemalloc.so.2), c never "
      "ran under jemalloc.");
}

TEST(SlopeSentence, SaysWhereALoneArmGoesWithoutAVerdict) {
  Growth growth;
  growth.arm = "watch";
  growth.role = "command";
  growth.metric = "rss_growth_bytes_per_minute";
  growth.slope = -3.0 * (1 << 20);
  EXPECT_EQ(slope_sentence(kJob, growth),
            "watch: command memory falls by 3.00 MiB per minute after warm-up; a verdict needs "
            "several runs");
}

}  // namespace
}  // namespace memduel
