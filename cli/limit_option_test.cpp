#include "limit_option.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "util/error.h"

namespace memduel::cli {
namespace {

using testing::HasSubstr;

std::string refusal_of(const char* limit) {
  try {
    return "accepted as " + gate_of_limit(limit);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.message();
  }
}

TEST(Limits, AreGatesOnAllProcesses) {
  EXPECT_EQ(gate_of_limit("peak_rss<=200MiB"), "all.peak_rss_bytes<=200MiB");
  EXPECT_EQ(gate_of_limit("largest_process<=1GB"), "all.peak_largest_process_rss_bytes<=1GB");
  EXPECT_EQ(gate_of_limit("heap<=64KiB"), "all.peak_heap_bytes<=64KiB");
  EXPECT_EQ(gate_of_limit("mapped<=1MB"), "all.peak_mapped_bytes<=1MB");
  EXPECT_EQ(gate_of_limit("wall_time<=1.5s"), "all.round_seconds<=1.5s");
  EXPECT_EQ(gate_of_limit("cpu_time<=900ms"), "all.cpu_seconds<=900ms");
  EXPECT_EQ(gate_of_limit("allocation_count<=1000"), "all.allocation_count<=1000");
  EXPECT_EQ(gate_of_limit("minor_faults<=1000"), "all.minor_faults_count<=1000");
  EXPECT_EQ(gate_of_limit("command.peak_rss<=1GiB"), "command.peak_rss_bytes<=1GiB");
}

TEST(Limits, RefuseOtherOperators) {
  EXPECT_THAT(refusal_of("peak_rss>=200MiB"), HasSubstr("expected METRIC<=VALUE, found >="));
  EXPECT_THAT(refusal_of("peak_rss=200MiB"), HasSubstr("expected METRIC<=VALUE, found ="));
  EXPECT_THAT(refusal_of("peak_rss<200MiB"), HasSubstr("expected METRIC<=VALUE, found <"));
  EXPECT_THAT(refusal_of("peak_rss"), HasSubstr("found no <="));
}

TEST(Limits, RefuseUnknownMetricsWithTheNames) {
  EXPECT_THAT(refusal_of("memory<=200MiB"), HasSubstr("did you mean \"peak_rss\"?"));
  EXPECT_THAT(refusal_of("throughput<=200"),
              HasSubstr("peak_rss, largest_process, heap, mapped, heap_and_mapped, wall_time"));
  EXPECT_THAT(refusal_of("peak_rs<=200MiB"), HasSubstr("did you mean \"peak_rss\"?"));
}

TEST(Limits, RefuseValuesThatTheMetricDoesNotTake) {
  EXPECT_THAT(refusal_of("peak_rss<=200"), HasSubstr("has no unit"));
  EXPECT_THAT(refusal_of("peak_rss<=200ms"), HasSubstr("has unit 'ms'"));
  EXPECT_THAT(refusal_of("wall_time<=2MiB"), HasSubstr("has unit 'MiB'"));
  EXPECT_THAT(refusal_of("peak_rss<=+2%"), HasSubstr("needs a baseline"));
  EXPECT_THAT(refusal_of("peak_rss<=-20%"), HasSubstr("needs a baseline"));
  EXPECT_THAT(refusal_of("peak_rss<=x"), HasSubstr("is not a limit"));
}

}  // namespace
}  // namespace memduel::cli
