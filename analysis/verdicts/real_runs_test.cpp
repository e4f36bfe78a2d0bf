// Two real runs, in the order of earlier versions, whose changes an earlier rule did not decide:
// what removed the effect of places whatever they showed, asked the means too, and corrected each
// gate of each variant by Holm.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "analysis/verdicts/analyse.h"

namespace memduel {
namespace {

struct RealRun {
  RunData run;
  AnalysisSettings settings;
};

RealRun real_run(const std::string& name) {
  std::ifstream file(std::string(MEMDUEL_ANALYSIS_TESTDATA) + "/" + name);
  const nlohmann::json told = nlohmann::json::parse(file);
  RealRun real;
  real.run.config = {{"baseline", told.at("baseline")},
                     {"arms", nlohmann::json::array()},
                     {"gates", nlohmann::json::array()},
                     {"measure", {{"order", "superblocks"}, {"repeats", 6}}}};
  std::map<int, int> positions;  // by superblock
  std::vector<std::string> arms;
  for (const nlohmann::json& one : told.at("trials")) {
    TrialData trial;
    trial.id = one.at("id");
    trial.block = one.at("block");
    trial.arm = one.at("variant");
    trial.position = positions[(trial.block - 1) / 2]++;
    for (const auto& [role, bytes] : one.at("peak_rss_bytes").items()) {
      RoleData data;
      data.role = role;
      data.metrics["peak_rss_bytes"] = bytes.get<double>();
      trial.roles.push_back(std::move(data));
    }
    if (std::ranges::find(arms, trial.arm) == arms.end()) {
      arms.push_back(trial.arm);
      real.run.config["arms"].push_back({{"name", trial.arm}});
    }
    real.run.trials.push_back(std::move(trial));
  }
  std::vector<std::string> gates;
  for (const nlohmann::json& gate : told.at("gates")) {
    const std::string text = gate.at("gate");
    if (std::ranges::find(gates, text) == gates.end()) gates.push_back(text);
  }
  for (const std::string& gate : gates) real.run.config["gates"].push_back(gate);
  real.settings = settings_from_config(real.run.config);
  return real;
}

// Plain ranks over the 6^3 deals; two more deals have a p of another gate as small.
TEST(RealRuns, FlowersSuperLinkAndServerAppAreDecided) {
  const RealRun real = real_run("flower-superlink.json");
  const Results results = analyse(real.run, real.settings);
  for (const char* role : {"superlink", "serverapp"}) {
    const Comparison* row = results.row("clear-two-arenas", role, "peak_rss_bytes");
    ASSERT_NE(row, nullptr);
    EXPECT_EQ(row->verdict, Verdict::improved) << row->reason;
    EXPECT_NEAR(*row->p_value, 2.0 / 216, 1e-12);
    EXPECT_NEAR(*row->p_adjusted, 4.0 / 216, 1e-12);
    EXPECT_EQ(row->correction, kWestfallYoung);
    EXPECT_FALSE(row->removed_place);
  }
  EXPECT_TRUE(results.row("clear-two-arenas", "serverapp", "peak_rss_bytes")->apart);
  EXPECT_EQ(results.row("clear-two-arenas", "clientapp", "peak_rss_bytes")->verdict,
            Verdict::inconclusive);
  EXPECT_EQ(results.order, "superblocks");
}

TEST(RealRuns, FiveOfSixRowsOfNvflareAreDecided) {
  const RealRun real = real_run("nvflare-memory.json");
  const Results results = analyse(real.run, real.settings);
  int improved = 0;
  int gates = 0;
  for (const Comparison& row : results.comparisons) {
    if (!row.gate) continue;
    ++gates;
    improved += static_cast<int>(row.verdict == Verdict::improved);
  }
  EXPECT_EQ(gates, 6);
  EXPECT_EQ(improved, 5);
  EXPECT_EQ(results.row("two-arenas", "client-2", "peak_rss_bytes")->verdict,
            Verdict::inconclusive);
}

}  // namespace
}  // namespace memduel
