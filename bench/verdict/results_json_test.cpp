#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "support/synthetic_run.h"
#include "verdict/analyse.h"
#include "verdict/result_files.h"

namespace memduel {
namespace {

using nlohmann::json;
using testing::HasSubstr;

Results full_results() {
  RunData run = make_duel("peak_rss_bytes", {2e8, 2.01e8, 1.99e8, 2e8, 2.02e8, 2e8, 2.01e8, 1.98e8},
                          {1e8, 1.01e8, 0.99e8, 1e8, 1.02e8, 1e8, 1.01e8, 0.98e8});
  run.warnings.push_back({"code", "message", "advice"});
  run.trials[0].model_sha256 = "abc";
  run.trials[0].files["model"] = "c0ffee";
  run.trials[1].failure = "tree: signal 9";
  run.trials[1].status = TrialStatus::killed_for_memory;
  RoleData& role = run.trials[0].roles[0];
  role.exit_status.reset();
  role.exit_signal = 9;
  role.rounds.push_back(
      {1, 5, 9, {{"end_rss_bytes", 7}}, {{"train", 5, 6, {{"peak_rss_bytes", 8}}}}});
  Results results = analyse(run, {});
  Growth growth;
  growth.arm = "a";
  growth.role = "all";
  growth.metric = "rss_growth_bytes_per_round";
  growth.slope = 3;
  growth.method = kStudent;
  growth.trial_slopes = {{1, 2.5}, {2, 3.5}};
  growth.verdict = GrowthVerdict::growing;
  growth.projection = Projection{1e9, 412, 390, std::nullopt, 6.5};
  growth.stacks = {{{"main", "keep"}, "upload", 262144, 1e6}};
  results.growth.push_back(growth);
  results.order = "restricted";
  results.comparisons[0].removed_place = RemovedPlace{1.015, 0.04, 0.9, true};
  results.comparisons[0].reference_orders = 900;
  results.arms[0].allocator = "jemalloc";
  results.arms[0].allocator_libraries = {"/lib/libjemalloc.so.2"};
  results.trials[0].allocators = {{"all", "/lib/libjemalloc.so.2"}};
  results.equivalence[0].metrics["validation_accuracy_ratio"] = {0.5, 0.6};
  results.equivalence[0].files.push_back({"model", 3, 2, 0.25, std::nullopt,
                                          LineDifference{2, "45", "45.0"},
                                          Variation{7, 2, {3, 5}, 1}});
  results.perturbation.push_back({"b", "recorder", 1.02, std::nullopt});
  results.lower_bounds.push_back({"server", "peak_rss_above_idle_bytes", 100, "M", {{"b", 1.5}}});
  AblationCell measured{
      "a+x", false, "a", 2e8, 1e8, 0.5, -1e8, 0.4, 0.6, 0.01, 6, Verdict::improved, "why"};
  AblationCell not_run;
  not_run.idle = true;
  not_run.reference = "b";
  not_run.reason = "changes nothing here";
  results.ablation.push_back(
      {"x", "server", "peak_rss_bytes", "upload", measured, not_run, SwitchEffect::saves});
  AblationSum sum{-5.0, -1.0, -2.0, 0.0, 6, {"y"}};
  results.ablation_totals.push_back(
      {"server", "peak_rss_bytes", std::nullopt, measured, sum, AblationSum{}});
  results.differences.push_back({"b",
                                 "server",
                                 "peak",
                                 "malloc",
                                 {"main", "grow"},
                                 4e6,
                                 0.9,
                                 "upload",
                                 1,
                                 8e6,
                                 12e6,
                                 std::nullopt});
  results.differences.push_back(
      {"b", "server", "live", "mapped", {}, -4e6, 0.1, std::nullopt, 0, 4e6, 0, 1e5});
  results.difference_totals.push_back({"b", "server", "peak", "malloc", 9e6, 13e6, 0.02, 3});
  results.first_screen.rows.push_back({"b",
                                       "server",
                                       "end_rss_bytes",
                                       ShownFor::largest_change,
                                       -4e6,
                                       {{"grow for main", "live", "grow", "main", -4e6}}});
  results.first_screen.next_step = NextStep{"Repeat it:", "memduel run config.json"};
  return results;
}

std::string message_of(const json& document) {
  try {
    results_from_json(document, "r.json");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::io);
    return error.message();
  }
  ADD_FAILURE() << "accepted";
  return {};
}

TEST(ResultsJson, ReadsBackWhatItWrote) {
  const json written = results_to_json(full_results());
  EXPECT_EQ(results_to_json(results_from_json(written)), written);
}

TEST(ResultsJson, IsWrittenByRoundsAsItIsWhole) {
  Results results = full_results();
  for (int round = 2; round < 5; ++round)
    results.trials[0].roles[0].rounds.push_back({round, 9, 12, {{"end_rss_bytes", 7.5}}, {}});
  results.trials[2].roles[0].rounds.push_back({1, 0, 1, {}, {}});
  for (const int indent : {-1, 0, 1, 4}) {
    std::string text;
    write_results(results, indent, [&](std::string_view piece) { text += piece; });
    EXPECT_EQ(text, results_to_json(results).dump(indent)) << indent;
  }
}

// A program may name a phase after each of its batches: the time must not grow with their square.
TEST(ResultsJson, ARoundOfManyPhasesIsWrittenInSeconds) {
  Results results = full_results();
  RoundData round{2, 9, 12, {}, {}};
  for (int phase = 0; phase < 100'000; ++phase)
    round.phases.push_back({"batch " + std::to_string(phase), 9, 12, {{"end_rss_bytes", 7.5}}});
  results.trials[0].roles[0].rounds.push_back(round);
  const auto begin = std::chrono::steady_clock::now();
  std::size_t bytes = 0;
  write_results(results, 1, [&](std::string_view piece) { bytes += piece.size(); });
  EXPECT_EQ(bytes, results_to_json(results).dump(1).size());
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(60));
}

TEST(ResultsJson, HasTheFieldsThatOthersRelyOn) {
  const json written = results_to_json(full_results());
  EXPECT_EQ(written.at("schema"), "memduel.results/2");
  EXPECT_EQ(written.at("experiment").at("baseline"), "a");
  const json& row = written.at("comparisons").at(0);
  for (const char* field : {"baseline",
                            "candidate",
                            "role",
                            "metric",
                            "gate",
                            "baseline_median",
                            "candidate_median",
                            "ratio",
                            "ci_low",
                            "ci_high",
                            "p_value",
                            "p_adjusted",
                            "n_baseline",
                            "n_candidate",
                            "verdict",
                            "tier",
                            "reason",
                            "margin",
                            "blocks_needed",
                            "minimum_detectable"}) {
    EXPECT_TRUE(row.contains(field)) << field;
  }
  const json& round = written.at("trials").at(0).at("roles").at(0).at("rounds").at(0);
  EXPECT_EQ(round.at("phases").at(0).at("phase"), "train");
  EXPECT_EQ(written.at("growth").at(0).at("trial_slopes").at(1),
            json({{"block", 2}, {"slope", 3.5}}));
  EXPECT_EQ(written.at("growth").at(0).at("method"), "Student's t of trial slopes");
  EXPECT_EQ(written.at("growth").at(0).at("projection").at("round"), 412);
  EXPECT_EQ(written.at("growth").at(0).at("projection").at("minute"), 6.5);
  EXPECT_EQ(written.at("growth").at(0).at("stacks").at(0).at("bytes_per_round"), 262144);
  EXPECT_EQ(written.at("equivalence").at(0).at("metrics").at("validation_accuracy_ratio"),
            json({0.5, 0.6}));
}

TEST(ResultsJson, HasTheFieldsOfAnAblationThatOthersRelyOn) {
  const json written = results_to_json(full_results());
  const json& row = written.at("ablation").at(0);
  EXPECT_EQ(row.at("switch"), "x");
  EXPECT_EQ(row.at("phase"), "upload");
  EXPECT_EQ(row.at("added_alone").at("ratio"), 0.5);
  EXPECT_TRUE(row.at("removed_alone").at("ratio").is_null());
  EXPECT_EQ(written.at("ablation_totals").at(0).at("added_alone").at("remainder"), -1);
  EXPECT_EQ(written.at("lower_bounds").at(0).at("multiples"), json({{"b", 1.5}}));
}

TEST(ResultsJson, HasTheFieldsOfADifferenceThatOthersRelyOn) {
  const json written = results_to_json(full_results());
  const json& row = written.at("differences").at(0);
  EXPECT_EQ(row.at("candidate"), "b");
  EXPECT_EQ(row.at("role"), "server");
  EXPECT_EQ(row.at("kind"), "peak");
  EXPECT_EQ(row.at("stack"), json({"main", "grow"}));
  EXPECT_EQ(row.at("bytes"), 4e6);
  EXPECT_EQ(row.at("share"), 0.9);
  EXPECT_EQ(row.at("phase"), "upload");
  EXPECT_TRUE(written.at("differences").at(1).at("phase").is_null());
  EXPECT_EQ(written.at("difference_totals").at(0).at("unmatched_share"), 0.02);
}

TEST(ResultsJson, HasTheFieldsOfTheFirstScreenThatOthersRelyOn) {
  const json screen = results_to_json(full_results()).at("first_screen");
  const json& row = screen.at("rows").at(0);
  EXPECT_EQ(row.at("candidate"), "b");
  EXPECT_EQ(row.at("role"), "server");
  EXPECT_EQ(row.at("metric"), "end_rss_bytes");
  EXPECT_EQ(row.at("why"), "largest_change");
  EXPECT_EQ(row.at("change"), -4e6);
  EXPECT_EQ(row.at("causes").at(0).at("memory"), "live");
  EXPECT_EQ(row.at("causes").at(0).at("function"), "grow");
  EXPECT_EQ(screen.at("next_step").at("command"), "memduel run config.json");
}

TEST(ResultsJson, WritesNullNotZeroForWhatIsUnknown) {
  const json written = results_to_json(analyse(make_duel("peak_rss_bytes", {1e8}, {1e8}), {}));
  EXPECT_TRUE(written.at("comparisons").at(0).at("p_value").is_null());
  EXPECT_TRUE(written.at("comparisons").at(0).at("ci_low").is_null());
}

TEST(ResultsJson, NamesAnotherSchemaVersion) {
  json document = results_to_json(full_results());
  document["schema"] = "memduel.results/3";
  EXPECT_EQ(message_of(document),
            "r.json at /schema: schema is 'memduel.results/3', expected 'memduel.results/2' or "
            "'memduel.results/1'\n  read it with the memduel version that wrote it");
  document.erase("schema");
  EXPECT_THAT(message_of(document), HasSubstr("missing"));
}

TEST(ResultsJson, NamesThePlaceOfAWrongValue) {
  json document = results_to_json(full_results());
  document["comparisons"][0]["verdict"] = "better";
  EXPECT_THAT(message_of(document), HasSubstr("r.json at /comparisons/0/verdict"));
  document = results_to_json(full_results());
  document["trials"][0]["roles"][0]["metrics"]["peak_rss_bytes"] = "much";
  EXPECT_THAT(message_of(document), HasSubstr("/trials/0/roles/0/metrics/peak_rss_bytes"));
}

TEST(ResultsJson, IgnoresSectionsOfLaterVersions) {
  json document = results_to_json(full_results());
  document["predictions"] = json::array();
  EXPECT_NO_THROW(results_from_json(document));
}

}  // namespace
}  // namespace memduel
