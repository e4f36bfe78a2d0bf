// examples/provider, as somebody would use it, and after its provider has gone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/memduel_program.h"
#include "util/file.h"

namespace memduel {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

class ProviderExample : public testing::Test {
 protected:
  ProviderExample() {
    fs::create_directories(place_.path("examples"));
    fs::copy(fs::path(MEMDUEL_SOURCES) / "examples/provider", place_.path("examples/provider"),
             fs::copy_options::recursive);
    fs::create_directory_symlink(fs::path(MEMDUEL_SOURCES) / "include", place_.path("include"));
  }

  /// A verb on the example's config, with workers of this many numbers.
  Finished on_config(const std::string& verb, std::vector<std::string> more) {
    std::vector<std::string> words = {verb, place_.path("examples/provider/pool.json").string(),
                                      "--set", "workload.rows=20000"};
    words.insert(words.end(), more.begin(), more.end());
    return memduel(place_, words);
  }
  std::string out() const { return place_.path("run").string(); }
  void remove_provider() { fs::remove(place_.path("examples/provider/pool_provider.py")); }

  Workplace place_;
};

TEST_F(ProviderExample, IsRunAndNeedsItsProviderNoMore) {
  const Finished first = on_config("run", {"--repeats", "2", "--out", out()});
  ASSERT_EQ(first.status, 0) << first.err << first.out;
  const json results = results_in(out());
  const json row = comparison(results, "worker_max", "peak_heap_bytes");
  EXPECT_TRUE(row.at("gate")) << "the provider's default gate";
  // Of 20,000 numbers a list has as many objects of 24 bytes, an array none.
  EXPECT_GT(row.at("baseline_median").get<double>() - row.at("candidate_median").get<double>(),
            20000 * 24);
  EXPECT_EQ(results.at("equivalence").at(0).at("bit_identical"), true);
  EXPECT_EQ(results.at("variants").at(1).at("switches").at("numbers"), "array");
  EXPECT_EQ(results.at("environment").at("provider").at("name"), "pool");

  remove_provider();
  EXPECT_EQ(memduel(place_, {"check", out()}).status, 0);
  EXPECT_EQ(memduel(place_, {"report", out()}).status, 0);
  const Finished again = on_config("run", {"--repeats", "2", "--out", out(), "--resume"});
  EXPECT_EQ(again.status, 0) << again.err;
  const Finished repeated =
      memduel(place_, {"run", out() + "/config.json", "--out", place_.path("again").string()});
  EXPECT_EQ(repeated.status, 0) << repeated.err;
  const Finished other = on_config("run", {"--set", "workload.workers=2"});
  EXPECT_EQ(other.status, 2);
  EXPECT_THAT(other.err, AllOf(HasSubstr("pool.json"), HasSubstr("pool_provider.py")));
}

TEST_F(ProviderExample, IsTakenApartBySwitches) {
  const Finished finished = on_config("ablate", {"--repeats", "2", "--out", out()});
  ASSERT_EQ(finished.status, 0) << finished.err << finished.out;
  const json results = results_in(out());
  std::vector<std::string> arms;
  for (const json& arm : results.at("variants")) arms.push_back(arm.at("name"));
  // Of two switches, one added to the original is the other left out of lean.
  EXPECT_THAT(arms, ElementsAre("original", "lean", "original+reading", "lean-reading"));
  bool told = false;
  for (const json& one : results.at("ablation")) {
    if (one.at("switch") != "numbers" || one.at("role") != "worker_max" ||
        one.at("metric") != "peak_heap_bytes")
      continue;
    told = true;
    const json& alone = one.at("added_alone");
    EXPECT_GT(alone.at("reference_median").get<double>() - alone.at("median").get<double>(),
              20000 * 24)
        << "an object of 24 bytes for each number is gone";
  }
  EXPECT_TRUE(told) << results.at("ablation").dump(1);
}

TEST_F(ProviderExample, IsListedPlannedAndCalibrated) {
  const Finished list =
      memduel(place_, {"list", "switches", place_.path("examples/provider/pool.json").string()});
  EXPECT_THAT(list.out, AllOf(HasSubstr("reading: how a worker reads its file"),
                              HasSubstr("an array of doubles")));
  EXPECT_THAT(
      memduel(place_, {"list", "presets", place_.path("examples/provider/pool.json").string()}).out,
      HasSubstr("lean"));
  const Finished plan = on_config("plan", {"--detect", "5%"});
  EXPECT_EQ(plan.status, 0) << plan.err;
  EXPECT_THAT(plan.out, HasSubstr("worker_max.peak_heap_bytes"));
  const Finished calibrated = on_config("calibrate", {"--repeats", "8", "--out", out()});
  EXPECT_EQ(calibrated.status, 0) << calibrated.err << calibrated.out;
}

TEST_F(ProviderExample, RefusesAWorkloadInItsOwnWords) {
  const Finished finished = on_config("run", {"--set", "workload.workers=99", "--out", out()});
  EXPECT_EQ(finished.status, 2);
  EXPECT_THAT(finished.err, HasSubstr("$.workload.workers: expected 1 to 64, found 99"));
  EXPECT_FALSE(fs::exists(out()));
}

}  // namespace
}  // namespace memduel
