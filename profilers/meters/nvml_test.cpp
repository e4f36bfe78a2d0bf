// The meter against a libnvidia-ml.so.1 that answers what a test tells it (test_fake_nvml.cpp).

#include "meters/nvml.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>

#include "util/error.h"

namespace memduel {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

constexpr std::int64_t kStep = 10'000'000;  ///< the meter looks no sooner again

void script(const std::string& words) {
  setenv("FAKE_NVML", words.c_str(), 1);
}

std::string refusal(const std::string& words, const std::string& library = MEMDUEL_FAKE_NVML) {
  script(words);
  try {
    const Nvml nvml(library);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::cannot_measure);
    EXPECT_FALSE(error.advice().empty());
    return error.message();
  }
  return "no error";
}

TEST(Nvml, SaysWhyThereIsNothingToMeasure) {
  EXPECT_THAT(refusal("", "/nowhere/libnvidia-ml.so.1"),
              AllOf(HasSubstr("no GPU"), HasSubstr("/nowhere/libnvidia-ml.so.1"),
                    HasSubstr("install the NVIDIA driver")));
  EXPECT_THAT(refusal("init=9"),
              AllOf(HasSubstr("no driver"), HasSubstr("nvmlInit_v2 returned 9")));
  EXPECT_THAT(refusal("init=18"), AllOf(HasSubstr("different versions"), HasSubstr("reboot")));
  EXPECT_THAT(refusal("init=4"), HasSubstr("no permission"));
  EXPECT_THAT(refusal("init=999"), HasSubstr("nvmlInit_v2 returned 999"));
  EXPECT_THAT(refusal("count=17"), HasSubstr("nvmlDeviceGetCount_v2 returned 17"));
  EXPECT_THAT(refusal("devices=0"), HasSubstr("the driver runs, but has no device"));
  EXPECT_THAT(refusal("devices=2 handle=15"), HasSubstr("lost"));
}

// The C library is one that has none of the functions.
TEST(Nvml, NamesTheFunctionThatALibraryLacks) {
  EXPECT_THAT(refusal("", "libc.so.6"), AllOf(HasSubstr("libc.so.6"), HasSubstr("nvmlInit_v2")));
}

TEST(Nvml, DescribesGpuAndDriver) {
  script("devices=1");
  EXPECT_EQ(Nvml(MEMDUEL_FAKE_NVML).describe(), "Fake GPU, driver 1.2.3");
  script("devices=3");
  EXPECT_EQ(Nvml(MEMDUEL_FAKE_NVML).describe(), "3 x Fake GPU, driver 1.2.3");
}

TEST(Nvml, UsedIsWithoutWhatTheDriverReservesWhereTheDriverTellsThemApart) {
  script("devices=2 used=1000 reserved=7");
  const Nvml nvml(MEMDUEL_FAKE_NVML);
  EXPECT_EQ(nvml.used_bytes(), 2000);
  script("devices=2 used=1000 reserved=7 old=1");
  EXPECT_EQ(nvml.used_bytes(), 2014);
  script("used=1000 memory_v2=3");
  EXPECT_EQ(nvml.used_bytes(), 2000) << "not supported: the older function answers";
  script("used=1000 memory_v2=3 memory=15");
  EXPECT_FALSE(nvml.used_bytes());
}

TEST(Nvml, SumsAProcessOverDevicesAndLeavesOutWhatTheDriverDoesNotSay) {
  script("devices=2 pid=10:500,11:-");
  const Nvml nvml(MEMDUEL_FAKE_NVML);
  EXPECT_THAT(nvml.used_bytes_by_process(), ElementsAre(Pair(10, 1000)));
  script("devices=2 pid=10:500 processes=4");
  EXPECT_THAT(nvml.used_bytes_by_process(), IsEmpty());
}

TEST(Nvml, ListsMoreProcessesThanItHadRoomFor) {
  std::string words = "pid=1:1";
  for (int pid = 2; pid <= 100; ++pid) words += "," + std::to_string(pid) + ":1";
  script(words);
  EXPECT_EQ(Nvml(MEMDUEL_FAKE_NVML).used_bytes_by_process().size(), 100U);
}

TEST(NvmlMeter, SamplesRolesByTheirProcessesAndTheDeviceAsTree) {
  script("used=5000 pid=10:1000000,11:200000,12:30000,99:7");
  NvmlMeter meter(MEMDUEL_FAKE_NVML);
  meter.add("server", 10);
  meter.add("client-1", 11);
  meter.add("client-1", 12);
  EXPECT_TRUE(meter.sample(kStep));
  script("used=6000 pid=10:1000000");
  EXPECT_FALSE(meter.sample(kStep + 1)) << "too soon";
  EXPECT_FALSE(meter.sample(2 * kStep)) << "nothing moved";
  const auto series = meter.series();
  ASSERT_EQ(series.size(), 3U);
  EXPECT_EQ(series[0].first, "server");
  EXPECT_EQ(series[0].second.metric, "gpu_used_bytes");
  EXPECT_THAT(series[0].second.values, ElementsAre(1000000, 1000000));
  EXPECT_THAT(series[0].second.t_ns, ElementsAre(kStep, 2 * kStep));
  EXPECT_THAT(series[1].second.values, ElementsAre(230000)) << "not listed: absent, not 0";
  EXPECT_EQ(series[2].first, "all");
  EXPECT_THAT(series[2].second.values, ElementsAre(5000, 6000));
}

TEST(NvmlMeter, ReadsAtMarksWhatARoleUsesNow) {
  script("pid=10:1000");
  NvmlMeter meter(MEMDUEL_FAKE_NVML);
  meter.add("server", 10);
  EXPECT_THAT(meter.read("server").values, ElementsAre(Pair("gpu_used_bytes", 1000)));
  script("pid=10:2000");
  EXPECT_THAT(meter.read("server").values, ElementsAre(Pair("gpu_used_bytes", 2000)));
  EXPECT_THAT(meter.read("nobody").values, IsEmpty());
  script("pid=77:2000");  // what a driver outside of this PID namespace lists
  EXPECT_THAT(meter.read("server").values, IsEmpty());
}

TEST(NvmlMeter, AProcessThatIsGivenToAnotherRoleLeavesItsFirst) {
  script("pid=10:1000,11:50");
  NvmlMeter meter(MEMDUEL_FAKE_NVML);
  meter.add("client-1", 10);
  meter.add("client-1", 11);
  meter.add("trainer", 11);
  EXPECT_THAT(meter.read("client-1").values, ElementsAre(Pair("gpu_used_bytes", 1000)));
  EXPECT_THAT(meter.read("trainer").values, ElementsAre(Pair("gpu_used_bytes", 50)));
}

// A device that stops answering in the middle of a trial leaves a gap.
TEST(NvmlMeter, ADeviceThatStopsAnsweringLeavesNoSamplesAndNoZeroes) {
  script("used=5000");
  NvmlMeter meter(MEMDUEL_FAKE_NVML);
  meter.sample(kStep);
  script("used=5000 memory=15 memory_v2=15 processes=15");
  meter.sample(2 * kStep);
  ASSERT_EQ(meter.series().size(), 1U);
  EXPECT_THAT(meter.series()[0].second.values, ElementsAre(5000));
}

}  // namespace
}  // namespace memduel
