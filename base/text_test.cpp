#include "base/text.h"

#include <gtest/gtest.h>

namespace memduel {
namespace {

TEST(FormatCount, TakesAnSOrWhatIsGivenUnlessThereIsOne) {
  EXPECT_EQ(format_count(1, "block"), "1 block");
  EXPECT_EQ(format_count(0, "block"), "0 blocks");
  EXPECT_EQ(format_count(2, "process", "processes"), "2 processes");
  EXPECT_EQ(format_count(1, "process", "processes"), "1 process");
}

TEST(FormatBytes, KeepsThreeOrFourDigits) {
  EXPECT_EQ(format_bytes(-0.2), "0 B");
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(1023), "1023 B");
  EXPECT_EQ(format_bytes(1536), "1.50 KiB");
  EXPECT_EQ(format_bytes(191365120), "182.5 MiB");
  EXPECT_EQ(format_bytes(-2097152), "-2.00 MiB");
}

TEST(FormatSeconds, ChoosesTheUnit) {
  EXPECT_EQ(format_seconds(0.0008), "0.8 ms");
  EXPECT_EQ(format_seconds(12.34), "12.3 s");
  EXPECT_EQ(format_seconds(245), "4 min 05 s");
  EXPECT_EQ(format_seconds(7800), "2 h 10 min");
}

TEST(FormatMetric, FollowsTheUnitInTheName) {
  EXPECT_EQ(format_metric("peak_rss_bytes", 1048576.0), "1.00 MiB");
  EXPECT_EQ(format_metric("rss_growth_bytes_per_round", 65536.0), "64.0 KiB/round");
  EXPECT_EQ(format_metric("minor_faults_count", 1234.0), "1234");
  EXPECT_EQ(format_metric("validation_accuracy_ratio", 0.9125), "0.9125");
  EXPECT_EQ(format_metric("peak_rss_bytes", std::nullopt), "-");
}

TEST(FormatChange, IsSignedPercent) {
  EXPECT_EQ(format_change(0.59), "-41.0 %");
  EXPECT_EQ(format_change(1.02), "+2.0 %");
  EXPECT_EQ(format_change(10.99), "+999.0 %");
  EXPECT_EQ(format_change(12.46), "12.5 times");
  EXPECT_EQ(format_change(843.2), "843 times");
}

TEST(NearestName, FindsATypoAndRefusesAStranger) {
  const std::vector<std::string> names = {"rounds", "clients", "batch_size"};
  EXPECT_EQ(nearest_name("round", names), "rounds");
  EXPECT_EQ(nearest_name("bacth_size", names), "batch_size");
  EXPECT_EQ(nearest_name("zzzzzzz", names), std::nullopt);
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

TEST(FormatShare, HasThreeDigitsAndNoExponent) {
  EXPECT_EQ(format_share(0.00573), "0.573 %");
  EXPECT_EQ(format_share(0.05), "5 %");
  EXPECT_EQ(format_share(9.994), "999 %");
  EXPECT_EQ(format_share(9.996), "1000 %");
  EXPECT_EQ(format_share(20.4), "2040 %");
}

}  // namespace
}  // namespace memduel
