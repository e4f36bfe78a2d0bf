#include "words.h"

#include <gmock/gmock.h>

namespace memduel {
namespace {

const JobFacts kJob = [] {
  JobFacts job;
  job.roles = {"server", "client"};
  return job;
}();

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

TEST(RowWords, NameTheRoleOnlyIfThereAreSeveral) {
  JobFacts job;
  job.roles = {"server", "client"};
  EXPECT_EQ(quantity(job, "server", "peak_rss_bytes"), "server peak RSS");
  EXPECT_EQ(quantity(job, "all", "peak_heap_bytes"), "all processes peak heap");
  EXPECT_EQ(quantity(job, "server", "queue_depth_count"), "server queue_depth_count");
  job.roles = {"command"};
  EXPECT_EQ(quantity(job, "command", "peak_rss_bytes"), "peak RSS");
  EXPECT_EQ(quantity(job, "all", "round_seconds"), "time per round");
  job.is_one_round = true;
  EXPECT_EQ(quantity(job, "all", "round_seconds"), "wall time");
  job.groups = {{"client", 3}};
  EXPECT_EQ(quantity(job, "client_max", "peak_rss_bytes"), "largest client peak RSS");
}

TEST(ChangeText, IsASignedPercentageOrAFactor) {
  EXPECT_EQ(ratio_text(0.17), "−83.0%");
  EXPECT_EQ(ratio_text(0.002), "−99.8%");
  EXPECT_EQ(ratio_text(0.0001), "−99.99%");
  EXPECT_EQ(ratio_text(0), "−100.0%");
  EXPECT_EQ(ratio_text(1.058), "+5.8%");
  EXPECT_EQ(ratio_text(1.0042), "+0.4%");
  EXPECT_EQ(ratio_text(1), "0%");
  EXPECT_EQ(ratio_text(1.0004), "+0.04%");
  EXPECT_EQ(ratio_text(3.4), "3.4×");
  Comparison c = server_peak(1, 1, 1, Verdict::improved);
  c.metric = "rss_growth_bytes_per_round";
  c.ratio.reset();
  c.difference = -12.0 * 1024 * 1024;
  EXPECT_EQ(change_text(c), "−12.0 MiB");
  c.difference.reset();
  EXPECT_EQ(change_text(c), "–");
}

TEST(IntervalText, HasAsManyDigitsAsKeepItsEndsApart) {
  EXPECT_EQ(interval_text(server_peak(0.59, 0.57, 0.62, Verdict::improved)), "−43.0 to −38.0%");
  EXPECT_EQ(interval_text(server_peak(0.5, 0.498, 0.502, Verdict::improved)), "−50.2 to −49.8%");
  EXPECT_EQ(interval_text(server_peak(2.93, 2.91, 2.94, Verdict::regressed)), "2.91× to 2.94×");
  EXPECT_EQ(interval_text(server_peak(0.678, 0.6779999, 0.6780001, Verdict::improved)),
            "−32.20 to −32.20%");
}

TEST(IntervalText, StatesIdenticalValuesAndAnotherLevel) {
  Comparison c = server_peak(0.9, 0.9, 0.9, Verdict::improved);
  c.exact = true;
  EXPECT_EQ(interval_text(c), "same each trial");
  c.exact = false;
  c.ci_low = 0.97;
  c.ci_high = 1.02;
  c.confidence = 0.9;
  EXPECT_EQ(interval_text(c), "−3.0 to +2.0% (90%)");
  c.ci_high.reset();
  EXPECT_EQ(interval_text(c), "–") << "an open end is no interval";
}

TEST(EffectText, GivesMediansIntervalAndTrials) {
  Comparison c = server_peak(0.59, 0.57, 0.62, Verdict::improved);
  c.baseline_median = 100.0 * (1 << 20);
  c.candidate_median = 59.0 * (1 << 20);
  EXPECT_EQ(effect_text(kJob, c),
            "server peak RSS: −41.0% (100.0 → 59.0 MiB, 95% CI −43.0 to −38.0%, 12 trials each)");
}

TEST(AmountWords, CompareInWords) {
  EXPECT_EQ(amount_words(server_peak(0.17, 0.1, 0.2, Verdict::improved)), "83.0% less");
  EXPECT_EQ(amount_words(server_peak(1.3, 1.2, 1.4, Verdict::regressed)), "30.0% more");
  EXPECT_EQ(amount_words(server_peak(3.4, 0, 0, Verdict::regressed)), "3.4× as much");
  Comparison c = server_peak(0.5, 0.4, 0.6, Verdict::improved);
  c.metric = "allocation_count";
  EXPECT_EQ(amount_words(c), "50.0% fewer");
}

TEST(FileSentence, SaysInHowManyBlocksAndByHowMuch) {
  const Equivalence e{"before", "after", false, {}, {}};
  FileEquivalence file{"model", 8, 8, {}, {}, {}};
  EXPECT_EQ(file_sentence(e, file),
            "model is byte-identical with after and before in all 8 trials.");
  file.identical_blocks = 5;
  EXPECT_EQ(file_sentence(e, file), "model differs between after and before in 3 of 8 trials.");
  file.max_difference = 0.0012;
  EXPECT_EQ(file_sentence(e, file),
            "model differs between after and before in 3 of 8 trials, by at most 0.0012.");
  file.max_within_baseline = 0.001;
  EXPECT_EQ(file_sentence(e, file),
            "model differs between after and before in 3 of 8 trials, by at most 0.0012; trials of "
            "before differ from each other by at most 0.001.");
}

TEST(FileSentence, SaysWhatIsPrintedInPlaceOfWhat) {
  const Equivalence e{"before", "after", false, {}, {}};
  FileEquivalence file{kStandardOutput, 8, 0, {}, {}, LineDifference{3, "sum 45", "sum 45.0"}};
  EXPECT_THAT(
      file_sentence(e, file),
      testing::EndsWith("in 8 of 8 trials, first in line 3: “sum 45.0” instead of “sum 45”."));
  file.first_difference->candidate.clear();
  EXPECT_THAT(file_sentence(e, file), testing::EndsWith("in line 3: nothing instead of “sum 45”."));
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
            "2.0” instead of “tiny 1.0”.");
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
  EXPECT_EQ(allocator_sentence({plain, jemalloc, failed}),
            "Allocators found in the processes: b used jemalloc (libjemalloc.so.2), c never used "
            "jemalloc.");
}

}  // namespace
}  // namespace memduel
