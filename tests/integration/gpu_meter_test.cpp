// The meter nvml from the command line: against a driver's library with scripted answers
// (profilers/meters/test_fake_nvml.cpp), and where there is no GPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "support/memduel_program.h"

namespace memduel {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// Environment variables for as long as a test runs.
class Settings {
 public:
  explicit Settings(std::vector<std::pair<std::string, std::string>> settings)
      : settings_(std::move(settings)) {
    for (const auto& [name, value] : settings_) setenv(name.c_str(), value.c_str(), 1);
  }
  Settings(const Settings&) = delete;
  Settings& operator=(const Settings&) = delete;
  ~Settings() {
    for (const auto& [name, value] : settings_) unsetenv(name.c_str());
  }

 private:
  std::vector<std::pair<std::string, std::string>> settings_;
};

std::string command_experiment(const Workplace& place) {
  return place.file("duel.json", R"({
    "name": "device", "baseline": "a", "workload": { "kind": "command", "processes": [
      { "role": "command", "argv": [")" MEMDUEL_ACT R"(", "sleep", "300"] } ] },
    "variants": [ { "name": "a" }, { "name": "b", "env": { "OTHER": "1" } } ],
    "gates": [ "all.peak_gpu_used_bytes<=+1%" ],
    "measure": { "repeats": 1, "meters": ["procfs", "nvml"] } })");
}

TEST(GpuMeter, GivesEachRolesShareAndTheWholeDevice) {
  // A process's comm is cut to 15 bytes; "memduel-act" is shorter.
  const Settings fake({{"LD_LIBRARY_PATH", MEMDUEL_FAKE_NVML_FOLDER},
                       {"FAKE_NVML", "used=700000000 comm=memduel-act:300000000"}});
  const Workplace place;
  const Finished run =
      memduel(place, {"run", command_experiment(place), "--out", place.path("run")});
  ASSERT_EQ(run.status, 0) << run.err;
  int seen = 0;
  const auto results = results_in(place.path("run"));
  for (const auto& trial : results.at("trials"))
    for (const auto& role : trial.at("roles")) {
      const auto& metrics = role.at("metrics");
      const bool tree = role.at("role") == "all";
      EXPECT_EQ(metrics.at("peak_gpu_used_bytes"), tree ? 700000000 : 300000000);
      if (tree) {
        EXPECT_EQ(metrics.at("idle_gpu_used_bytes"), 700000000);
      }
      ++seen;
    }
  EXPECT_EQ(seen, 8) << "two variants, a warm-up and a measure trial, a role and the tree";
  const auto device = comparison(results, "all", "peak_gpu_used_bytes");
  EXPECT_EQ(device.at("baseline_median"), 700000000);
  EXPECT_EQ(device.at("ratio"), 1);
}

TEST(GpuMeter, ListAndDoctorNameTheGpuOrWhatIsMissing) {
  const Workplace place;
  {
    const Settings fake(
        {{"LD_LIBRARY_PATH", MEMDUEL_FAKE_NVML_FOLDER}, {"FAKE_NVML", "devices=2"}});
    EXPECT_THAT(memduel(place, {"doctor"}).out, HasSubstr("2 x Fake GPU, driver 1.2.3"));
    EXPECT_THAT(memduel(place, {"list", "meters"}).out, HasSubstr("peak_gpu_used_bytes"));
  }
  const Settings mismatch(
      {{"LD_LIBRARY_PATH", MEMDUEL_FAKE_NVML_FOLDER}, {"FAKE_NVML", "init=18"}});
  EXPECT_THAT(memduel(place, {"list", "meters"}).out,
              HasSubstr("works here: no, the driver and its library have different versions"));
  EXPECT_THAT(memduel(place, {"doctor"}).out, HasSubstr("nvmlInit_v2 returned 18"));
}

TEST(GpuMeter, ARunThatAsksForItWithoutADriverEndsBeforeItsFirstTrial) {
  const Settings driverless(
      {{"LD_LIBRARY_PATH", MEMDUEL_FAKE_NVML_FOLDER}, {"FAKE_NVML", "init=9"}});
  const Workplace place;
  const Finished run =
      memduel(place, {"run", command_experiment(place), "--out", place.path("run")});
  EXPECT_EQ(run.status, 3);
  EXPECT_THAT(run.err, AllOf(HasSubstr("measure.meters"), HasSubstr("meter nvml: no driver")));
  EXPECT_FALSE(std::filesystem::exists(place.path("run")));
}

}  // namespace
}  // namespace memduel
