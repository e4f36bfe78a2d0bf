#include "util/text.h"

#include <gtest/gtest.h>

namespace memduel {
namespace {

TEST(EscapeTerminal, LetsNoEscapeSequenceThrough) {
  EXPECT_EQ(escape_terminal("a\x1B[31mb\r\nc\u009Bd\u202E"), "a [31mb  c d");
}

TEST(CountCharacters, CountsCodePoints) {
  EXPECT_EQ(count_characters("▼ größe"), 7u);
}

TEST(EscapeTerminalLines, KeepsLinesAndNothingElseThatCommandsATerminal) {
  EXPECT_EQ(escape_terminal_lines("one\n\x1b[31mtwo\a\nthree"), "one\n [31mtwo \nthree");
  EXPECT_EQ(escape_terminal_lines("\n\n"), "\n\n");
  EXPECT_EQ(escape_terminal_lines(""), "");
}

TEST(FormatCount, TakesAnSOrWhatIsGivenUnlessThereIsOne) {
  EXPECT_EQ(format_count(1, "block"), "1 block");
  EXPECT_EQ(format_count(0, "block"), "0 blocks");
  EXPECT_EQ(format_count(2, "process", "processes"), "2 processes");
  EXPECT_EQ(format_count(1, "process", "processes"), "1 process");
}

TEST(FormatEstimatedCount, IsPluralOnlyWhereItsRoundedNumberIs) {
  EXPECT_EQ(format_estimated_count(0.9, "block"), "1 block");
  EXPECT_EQ(format_estimated_count(1.49, "block"), "1 block");
  EXPECT_EQ(format_estimated_count(1.51, "block"), "2 blocks");
  EXPECT_EQ(format_estimated_count(0.2, "block"), "0 blocks");
  EXPECT_EQ(format_estimated_count(1.2, "process", "processes"), "1 process");
  EXPECT_EQ(format_estimated_count(7, "process", "processes"), "7 processes");
}

TEST(FormatBytes, NeverShows1024OfAUnitNorADigitTooMany) {
  constexpr double kKiB = 1024;
  EXPECT_EQ(format_bytes(1023.4), "1023 B");
  EXPECT_EQ(format_bytes(1023.6), "1.00 KiB");
  EXPECT_EQ(format_bytes(9.994 * kKiB), "9.99 KiB");
  EXPECT_EQ(format_bytes(9.996 * kKiB), "10.0 KiB");
  EXPECT_EQ(format_bytes(1023.94 * kKiB), "1023.9 KiB");
  EXPECT_EQ(format_bytes(1023.96 * kKiB), "1.00 MiB");
  EXPECT_EQ(format_bytes(-1023.96 * kKiB), "-1.00 MiB");
  EXPECT_EQ(format_bytes(5000 * kKiB * kKiB * kKiB * kKiB), "5000.0 TiB");
}

TEST(FormatBytes, KeepsThreeOrFourDigits) {
  EXPECT_EQ(format_bytes(-0.2), "0 B");
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(1023), "1023 B");
  EXPECT_EQ(format_bytes(1536), "1.50 KiB");
  EXPECT_EQ(format_bytes(191365120), "182.5 MiB");
  EXPECT_EQ(format_bytes(-2097152), "-2.00 MiB");
}

TEST(FormatBytes, HasAnIntervalInTheUnitOfTheLarger) {
  constexpr double kMiB = 1024.0 * 1024;
  EXPECT_EQ(format_bytes_with_interval(34.3 * kMiB, 5.6 * kMiB), "34.3 ± 5.6 MiB");
  EXPECT_EQ(format_bytes_with_interval(-2 * kMiB, 12 * 1024.0), "-2.00 ± 0.01 MiB");
  EXPECT_EQ(format_bytes_with_interval(512, 20 * kMiB), "0.0 ± 20.0 MiB");
  EXPECT_EQ(format_bytes_with_interval(100, 3), "100 ± 3 B");
  EXPECT_EQ(format_bytes_with_interval(1536, 0), "1.50 KiB");
}

TEST(FormatSeconds, ChoosesTheUnit) {
  EXPECT_EQ(format_seconds(0.0008), "0.8 ms");
  EXPECT_EQ(format_seconds(12.34), "12.3 s");
  EXPECT_EQ(format_seconds(245), "4 min 05 s");
  EXPECT_EQ(format_seconds(7800), "2 h 10 min");
}

TEST(FormatSeconds, NeverShows1000OfAUnit) {
  EXPECT_EQ(format_seconds(0), "0.0 ms");
  EXPECT_EQ(format_seconds(0.9999e-6), "999.9 ns");
  EXPECT_EQ(format_seconds(0.99996e-6), "1.0 us");
  EXPECT_EQ(format_seconds(0.9994e-4), "99.9 us");
  EXPECT_EQ(format_seconds(0.99996e-4), "0.1 ms");
  EXPECT_EQ(format_seconds(0.9999), "999.9 ms");
  EXPECT_EQ(format_seconds(0.99996), "1.0 s");
  EXPECT_EQ(format_seconds(119.94), "119.9 s");
  EXPECT_EQ(format_seconds(119.96), "2 min 00 s");
  EXPECT_EQ(format_seconds(7199.6), "2 h 00 min");
}

TEST(FormatMetric, FollowsTheUnitInTheName) {
  EXPECT_EQ(format_metric("peak_rss_bytes", 1048576.0), "1.00 MiB");
  EXPECT_EQ(format_metric("rss_growth_bytes_per_round", 65536.0), "64.0 KiB/round");
  EXPECT_EQ(format_metric("minor_faults_count", 1234.0), "1234");
  EXPECT_EQ(format_metric("validation_accuracy_ratio", 0.9125), "0.9125");
  EXPECT_EQ(format_metric("peak_rss_bytes", std::nullopt), "-");
}

TEST(FormatChange, IsSignedPercentBelowTwiceAsMuch) {
  EXPECT_EQ(format_change(0.59), "-41.0%");
  EXPECT_EQ(format_change(1.02), "+2.0%");
  EXPECT_EQ(format_change(1.00994), "+0.99%");
  EXPECT_EQ(format_change(1.00996), "+1.0%");
  EXPECT_EQ(format_change(1.9991), "+99.9%");
  EXPECT_EQ(format_change(2), "2.0 times");
  EXPECT_EQ(format_change(0.001), "-99.9%");
  EXPECT_EQ(format_change(99.94), "99.9 times");
  EXPECT_EQ(format_change(99.96), "100 times");
  EXPECT_EQ(format_change(12.46), "12.5 times");
  EXPECT_EQ(format_change(843.2), "843 times");
}

TEST(NearestName, FindsATypoAndRefusesAStranger) {
  const std::vector<std::string> names = {"rounds", "clients", "batch_size"};
  EXPECT_EQ(nearest_name("round", names), "rounds");
  EXPECT_EQ(nearest_name("bacth_size", names), "batch_size");
  EXPECT_EQ(nearest_name("zzzzzzz", names), std::nullopt);
  EXPECT_EQ(nearest_name("q", {"x", "y"}), std::nullopt) << "one of one letter is not alike";
  EXPECT_EQ(nearest_name("x1", {"x"}), "x");
}

TEST(NearestName, CompletesABeginning) {
  const std::vector<std::string> names = {"peak_rss_above_idle_bytes", "peak_rss_bytes", "cpu"};
  EXPECT_EQ(nearest_name("peak_rss", names), "peak_rss_bytes");
  EXPECT_EQ(nearest_name("pe", names), std::nullopt);
  EXPECT_EQ(nearest_name("flame", {"summary", "flamegraph"}), "flamegraph");
  EXPECT_EQ(nearest_name("peak", {"peak-a-long-name", "peak-b-long-name"}), std::nullopt);
}

TEST(ValidUtf8, ReplacesEachByteThatIsNotPartOfACharacter) {
  EXPECT_EQ(valid_utf8("a\xFF"
                       "b"),
            "a\uFFFDb");
  EXPECT_EQ(valid_utf8("\xC3"), "\uFFFD");                      // cut short
  EXPECT_EQ(valid_utf8("\xC0\xAF"), "\uFFFD\uFFFD");            // overlong slash
  EXPECT_EQ(valid_utf8("\xED\xA0\x80"), "\uFFFD\uFFFD\uFFFD");  // surrogate
  EXPECT_EQ(valid_utf8("größe € \U0001F600"), "größe € \U0001F600");
}

TEST(ValidUtf8, ReplacesOnlyWhatIsNone) {
  EXPECT_EQ(valid_utf8("f(π) \"\\\n"), "f(π) \"\\\n");
  EXPECT_EQ(valid_utf8("f(\xff)"), "f(\xef\xbf\xbd)");
}

TEST(FileNameFor, IsNeitherAPathNorHidden) {
  EXPECT_EQ(file_name_for("../../x"), "-.-..-x");
  EXPECT_EQ(file_name_for("quickstart"), "quickstart");
  EXPECT_EQ(file_name_for("a\nb"), "a-b");
  EXPECT_EQ(file_name_for(".."), "-.");
}

TEST(FormatPercent, HasAtMostTwoDigitsMoreTheSmallerItIs) {
  EXPECT_EQ(format_percent(0), "0.00%");
  EXPECT_EQ(format_percent(0.0042), "0.42%");
  EXPECT_EQ(format_percent(0.00994), "0.99%");
  EXPECT_EQ(format_percent(0.00996), "1.0%");
  EXPECT_EQ(format_percent(0.0994), "9.9%");
  EXPECT_EQ(format_percent(0.0996), "10%");
  EXPECT_EQ(format_percent(-0.41), "-41%");
}

TEST(FormatSize, IsAnAmountWhereItIsMoreThanTheBaseline) {
  EXPECT_EQ(format_size("peak_heap_bytes", 0.0146, 1e6), "1.46%");
  EXPECT_EQ(format_size("peak_heap_bytes", 16, 4096.0), "64.0 KiB");
  EXPECT_EQ(format_size("peak_heap_bytes", 16, std::nullopt), "1600%");
  EXPECT_EQ(format_size("round_seconds", 1, 0.5), "500.0 ms");
}

TEST(FormatInterval, IsOneNumberWhereItsEndsReadAlike) {
  EXPECT_EQ(format_interval("-1%", "+2%"), "-1% to +2%");
  EXPECT_EQ(format_interval("-0.03%", "-0.03%"), "-0.03%");
}

TEST(FormatShare, HasThreeDigitsAndNoExponent) {
  EXPECT_EQ(format_share(0), "0%");
  EXPECT_EQ(format_share(1e-8), "0.000001%");
  EXPECT_EQ(format_share(-1.25e-7), "-0.0000125%");
  EXPECT_EQ(format_share(1e-30), "0%");
  EXPECT_EQ(format_share(0.00573), "0.573%");
  EXPECT_EQ(format_share(0.05), "5%");
  EXPECT_EQ(format_share(9.994), "999%");
  EXPECT_EQ(format_share(9.996), "1000%");
  EXPECT_EQ(format_share(20.4), "2040%");
}

}  // namespace
}  // namespace memduel
