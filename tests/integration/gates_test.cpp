// Gates on real processes with rounds, several roles and a growing memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/memduel_program.h"

namespace memduel {
namespace {

/// Two roles; the server keeps `kept` MiB more after every round of fifty, the fewest in which
/// growth can be called.
std::string growing_server(const Workplace& place, const std::string& a, const std::string& b) {
  const auto words = [](const std::string& kept) {
    std::string text = R"(")" MEMDUEL_ACT R"(", "idle")";
    for (int round = 1; round <= 50; ++round) {
      const std::string n = std::to_string(round);
      text += R"(, "round", ")" + n + R"(", "touch", "8", "free")";
      if (kept != "0") text += R"(, "touch", ")" + kept + R"(")";
      text += R"(, "end", ")" + n + R"(")";
    }
    return text;
  };
  return place.file("growing.json", R"({
    "name": "growing", "baseline": "a",
    "workload": { "kind": "command", "processes": [
      { "role": "server", "argv": [)" + words(a) +
                                        R"(] },
      { "role": "client", "count": 2, "argv": [")" MEMDUEL_ACT
                                        R"(", "idle", "touch", "4", "sleep", "50"] } ] },
    "variants": [ { "name": "a" }, { "name": "b", "argv": { "server": [)" +
                                        words(b) + R"(] } } ],
    "gates": ["server.rss_growth_bytes_per_round<=+64KiB", "client_max.peak_rss_bytes<=+2%|+2MiB"],
    "measure": { "repeats": 8 } })");
}

TEST(GrowthGate, FailsForALeakOfOneMebibyteARound) {
  const Workplace place;
  const Finished run =
      memduel(place, {"run", growing_server(place, "0", "1"), "--out", place.path("run")});
  EXPECT_EQ(run.status, 1) << run.err << run.out;
  const auto results = results_in(place.path("run"));
  EXPECT_EQ(results.at("gates").at(0).at("outcome"), "failed");
  EXPECT_EQ(results.at("gates").at(1).at("outcome"), "passed");
  bool found = false;
  for (const auto& growth : results.at("growth")) {
    if (growth.at("variant") != "b" || growth.at("role") != "server" ||
        growth.at("metric") != "rss_growth_bytes_per_round")
      continue;
    found = true;
    EXPECT_EQ(growth.at("verdict"), "growing");
    EXPECT_NEAR(growth.at("slope").get<double>(), 1048576, 0.1 * 1048576);
  }
  EXPECT_TRUE(found);
}

TEST(GrowthGate, PassesForALeakThatIsGone) {
  const Workplace place;
  const Finished run =
      memduel(place, {"run", growing_server(place, "1", "0"), "--out", place.path("run")});
  EXPECT_EQ(run.status, 0) << run.err << run.out;
  const auto row =
      comparison(results_in(place.path("run")), "server", "rss_growth_bytes_per_round");
  EXPECT_EQ(row.at("verdict"), "improved");
  EXPECT_TRUE(row.at("ratio").is_null());
}

}  // namespace
}  // namespace memduel
