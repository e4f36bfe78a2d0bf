// A run that began when keys of configs had other names.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "run/store.h"
#include "support/small_experiment.h"
#include "test_trials.h"

namespace memduel {
namespace {

using RunOfOldKeys = TestFolder;

RunHeader header_with_variants() {
  JobFacts job;
  job.roles = {"server"};
  RunHeader header{nlohmann::json::parse(
                       R"({"name": "t", "baseline": "a", "profile": {"profilers": ["recorder"]},
                                              "variants": [{"name": "a"}, {"name": "b", "switches": {"arms": 1}}]})"),
                   "c0ffee",
                   job,
                   {{"cpu", "A"}, {"fingerprint", "f1"}},
                   {{"/bin/x", "1234"}}};
  return header;
}

void store_old_keys(const std::filesystem::path& run) {
  Store::create(run, header_with_variants()).add_trial(full_trial(1, 0, "a"));
  sqlite::Database(run / "run.sqlite", sqlite::Mode::read_write)
      .execute(
          R"(UPDATE run SET value = '{"name": "t", "baseline": "a", "profile": {"tracers": ["recorder"]},
                  "arms": [{"name": "a"}, {"name": "b", "optimizations": {"arms": 1}}]}' WHERE key = 'config';
                  UPDATE run SET value = 'decaf' WHERE key = 'config_sha256')");
}

TEST_F(RunOfOldKeys, IsReadByItsNewKeys) {
  store_old_keys(folder_ / "run");
  const RunData run = read_run(folder_ / "run");
  EXPECT_EQ(run.config, header_with_variants().config);
  EXPECT_EQ(run.config_sha256, "decaf") << "of the text that it was measured with";
}

TEST_F(RunOfOldKeys, IsResumedByTheSameConfig) {
  store_old_keys(folder_ / "run");
  EXPECT_EQ(Store::resume(folder_ / "run", header_with_variants()).read().trials.size(), 1U);
  RunHeader other = header_with_variants();
  other.config["variants"][1]["switches"]["arms"] = 2;
  EXPECT_EQ(error_of([&] { Store::resume(folder_ / "run", other); }).message(),
            (folder_ / "run").string() +
                ": cannot resume: the config changed, first at /variants/1/switches/arms\n"
                "  its trials cannot be compared with new ones; give another --out");
}

}  // namespace
}  // namespace memduel
