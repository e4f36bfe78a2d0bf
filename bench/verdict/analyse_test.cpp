#include "verdict/analyse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "support/synthetic_run.h"
#include "support/test_data.h"

namespace memduel {
namespace {

using testing::HasSubstr;

std::vector<double> mib(std::vector<double> values) {
  for (double& value : values) value *= kMiB;
  return values;
}

const std::vector<double> kQuiet = mib({200.0, 200.4, 199.7, 200.9, 199.5, 200.2, 200.6, 199.9});
const std::vector<double> kTwoPercentMore =
    mib({204.1, 204.3, 203.8, 204.6, 203.9, 204.4, 204.0, 204.2});

AnalysisSettings with_gates(const std::vector<std::string>& gates) {
  AnalysisSettings settings;
  for (const std::string& gate : gates) settings.gates.push_back(parse_gate(gate));
  return settings;
}

TEST(Analyse, CallsTwoPercentMoreRegressedAndFailsTheDefaultGate) {
  const Results results = analyse(make_duel("peak_rss_bytes", kQuiet, kTwoPercentMore), {});
  ASSERT_EQ(results.comparisons.size(), 1U);
  const Comparison& row = results.comparisons.front();
  EXPECT_EQ(row.verdict, Verdict::regressed);
  EXPECT_EQ(row.tier, Tier::strong);
  EXPECT_TRUE(row.gate);
  // Complete separation of 8 pairs: the smallest p, 2^(1-8).
  EXPECT_DOUBLE_EQ(*row.p_value, 1.0 / 128);
  EXPECT_NEAR(*row.ratio, 1.02, 0.002);
  ASSERT_EQ(results.gates.size(), 1U);
  EXPECT_EQ(results.gates.front().outcome, GateOutcome::failed);
  EXPECT_EQ(static_cast<ExitCode>(results.overall.exit_code), ExitCode::gate_failed);
}

TEST(Analyse, ARowThatAnAdvisoryGateAsksAboutIsAskedAndDecidesNothing) {
  const Results results = analyse(make_duel("peak_rss_bytes", kQuiet, kTwoPercentMore),
                                  with_gates({"all.peak_rss_bytes<=+1%:advisory"}));
  EXPECT_FALSE(results.comparisons.front().gate);
  EXPECT_TRUE(results.comparisons.front().is_asked());
  EXPECT_EQ(static_cast<ExitCode>(results.overall.exit_code), ExitCode::ok);
  const Results ceiling = analyse(make_duel("peak_rss_bytes", kQuiet, kTwoPercentMore),
                                  with_gates({"all.peak_rss_bytes<=900MiB:advisory"}));
  EXPECT_FALSE(ceiling.comparisons.front().is_asked()) << "a ceiling does not ask for a change";
}

TEST(Analyse, CallsTheSameProgramUnchanged) {
  std::vector<double> again = kQuiet;
  std::rotate(again.begin(), again.begin() + 3, again.end());
  const Results results = analyse(make_duel("peak_rss_bytes", kQuiet, again), {});
  EXPECT_EQ(results.comparisons.front().verdict, Verdict::unchanged);
  EXPECT_EQ(results.gates.front().outcome, GateOutcome::passed);
  EXPECT_TRUE(settled(results));
}

TEST(Analyse, AsksForProfilesOfArmsWhoseMemoryChanged) {
  using testing::IsEmpty;
  const std::vector<std::string> both = {"a", "b"};
  const auto asked = [](const char* metric, const auto& baseline, const auto& candidate,
                        const char* gate) {
    return arms_to_explain(
        analyse(make_duel(metric, baseline, candidate), with_gates({std::string("all.") + gate})));
  };
  EXPECT_EQ(asked("peak_rss_bytes", kQuiet, kTwoPercentMore, "peak_rss_bytes<=+1%"), both);
  EXPECT_EQ(asked("peak_rss_bytes", kTwoPercentMore, kQuiet, "peak_rss_bytes<=+1%"), both)
      << "what improved is told, too";
  EXPECT_THAT(asked("peak_rss_bytes", kQuiet, kQuiet, "peak_rss_bytes<=+1%"), IsEmpty());
  EXPECT_EQ(asked("peak_rss_bytes", kQuiet, kTwoPercentMore, "peak_rss_bytes<=+1%:advisory"), both);
  EXPECT_EQ(asked("peak_rss_bytes", kTwoPercentMore, kQuiet, "peak_rss_bytes<=+1%:advisory"), both);
  const std::vector<double> slow = {2.1, 2.11, 2.12, 2.1, 2.13, 2.11, 2.1, 2.12};
  const std::vector<double> fast = {1.1, 1.11, 1.12, 1.1, 1.13, 1.11, 1.1, 1.12};
  EXPECT_THAT(asked("round_seconds", slow, fast, "round_seconds<=+1%"), IsEmpty())
      << "time has no stacks of memory";
}

TEST(Analyse, NamesEachRoleOfARunOnceWhereAGateNamesAnother) {
  try {
    analyse(make_duel("peak_rss_bytes", kQuiet, kQuiet), with_gates({"program.rss_bytes<=+1%"}));
    FAIL() << "expected a refusal";
  } catch (const Error& error) {
    EXPECT_THAT(error.message(), HasSubstr("the roles of this run are all, or * for all"));
  }
}

TEST(Analyse, CannotTellBelowFiveBlocks) {
  const Results results =
      analyse(make_duel("peak_rss_bytes", mib({200, 201, 199}), mib({300, 301, 299})), {});
  const Comparison& row = results.comparisons.front();
  EXPECT_EQ(row.verdict, Verdict::inconclusive);
  EXPECT_EQ(row.reason, "too few trials: 3 of at least 5");
  EXPECT_EQ(row.blocks_needed, 5);
  EXPECT_FALSE(row.p_value);
  EXPECT_EQ(results.gates.front().outcome, GateOutcome::inconclusive);
  EXPECT_EQ(static_cast<ExitCode>(results.overall.exit_code), ExitCode::inconclusive)
      << "+50% in three of three trials is beyond the bound";
  AnalysisSettings all_fail;
  all_fail.on_inconclusive = OnInconclusive::fail;
  EXPECT_EQ(
      analyse(make_duel("peak_rss_bytes", mib({200, 201, 199}), mib({200, 201, 199})), all_fail)
          .overall.exit_code,
      static_cast<int>(ExitCode::inconclusive));
}

TEST(Analyse, ComparesExactMetricsDirectlyFromThreeTrials) {
  const Results results =
      analyse(make_duel("peak_heap_bytes", mib({100, 100, 100}), mib({99, 99, 99})), {});
  const Comparison& row = results.comparisons.front();
  EXPECT_EQ(row.verdict, Verdict::improved);
  EXPECT_EQ(row.tier, Tier::strong);
  EXPECT_FALSE(row.p_value);
  EXPECT_NEAR(*row.ratio, 0.99, 1e-12);
}

TEST(Analyse, AnExactMetricNeedsThreeTrials) {
  const Results results = analyse(make_duel("peak_heap_bytes", mib({100}), mib({99})), {});
  EXPECT_EQ(results.comparisons.front().reason, "too few trials: 1 of at least 3");
}

TEST(Analyse, FailsTheGatesOfACandidateThatIsKilledForMemory) {
  RunData run = make_duel("peak_rss_bytes", kQuiet, kQuiet);
  TrialData& killed = run.trials.back();
  killed.status = TrialStatus::killed_for_memory;
  killed.failure = "tree: killed for memory";
  const Results results = analyse(run, {});
  const Comparison& row = results.comparisons.front();
  EXPECT_EQ(row.n_candidate, 8);
  EXPECT_EQ(row.verdict, Verdict::inconclusive);
  EXPECT_THAT(row.reason, HasSubstr("killed for memory in 1 of 8 trials"));
  EXPECT_EQ(results.gates.front().outcome, GateOutcome::failed);
  EXPECT_EQ(static_cast<ExitCode>(results.overall.exit_code), ExitCode::gate_failed);
}

TEST(Analyse, CallsACandidateThatNeverLivesRegressed) {
  RunData run = make_duel("peak_rss_bytes", kQuiet, kQuiet);
  for (TrialData& trial : run.trials) {
    if (trial.arm != "b") continue;
    trial.status = TrialStatus::failed;
    trial.roles.clear();
  }
  const Results results = analyse(run, {});
  const Comparison& row = results.comparisons.front();
  EXPECT_EQ(row.verdict, Verdict::regressed);
  EXPECT_FALSE(row.ratio);
  EXPECT_FALSE(row.candidate_median);
  EXPECT_EQ(static_cast<ExitCode>(results.overall.exit_code), ExitCode::gate_failed);
}

TEST(Analyse, CouldNotMeasureWithoutALivingBaseline) {
  RunData run = make_duel("peak_rss_bytes", kQuiet, kQuiet);
  for (TrialData& trial : run.trials) {
    if (trial.arm == "a") trial.status = TrialStatus::failed;
  }
  const Results results = analyse(run, {});
  EXPECT_TRUE(results.gates.front().not_measured);
  EXPECT_EQ(static_cast<ExitCode>(results.overall.exit_code), ExitCode::cannot_measure);
}

TEST(Analyse, DropsAWholeBlockForAFaultOfTheHarness) {
  RunData run = make_duel("peak_rss_bytes", kQuiet, kTwoPercentMore);
  run.trials.front().harness_fault = true;
  const Results results = analyse(run, {});
  EXPECT_EQ(results.comparisons.front().n_baseline, 7);
  EXPECT_EQ(results.comparisons.front().n_candidate, 7);
  ASSERT_FALSE(results.warnings.empty());
  EXPECT_EQ(results.warnings.front().code, "blocks_dropped");
}

TEST(Analyse, LeavesOutAnUnmeasuredDefaultGateButNotAnAskedForOne) {
  const RunData run = make_duel("peak_rss_bytes", kQuiet, kQuiet);
  const Results by_default = analyse(run, {});
  EXPECT_EQ(by_default.gates.size(), 1U);
  ASSERT_EQ(by_default.limitations.size(), 1U);
  EXPECT_EQ(by_default.limitations.front().code, "default_gate_not_measured");
  const Results asked = analyse(run, with_gates({"all.peak_heap_bytes<=+1%"}));
  ASSERT_EQ(asked.gates.size(), 1U);
  EXPECT_TRUE(asked.gates.front().not_measured);
  EXPECT_EQ(static_cast<ExitCode>(asked.overall.exit_code), ExitCode::cannot_measure);
}

TEST(Analyse, HasNoVerdictOfARunningRunBeforeTheNextLook) {
  AnalysisSettings settings = with_gates({"all.peak_rss_bytes<=+1%"});
  settings.looks = fixed_looks(12);
  settings.still_running = true;
  const Results running = analyse(make_duel("peak_rss_bytes", kQuiet, kTwoPercentMore), settings);
  EXPECT_EQ(running.comparisons.front().verdict, Verdict::inconclusive);
  EXPECT_EQ(running.comparisons.front().reason,
            "no verdict before the analysis after 12 trials each");
  EXPECT_EQ(running.gates.front().outcome, GateOutcome::inconclusive);
  EXPECT_EQ(running.gates.front().reason, "no verdict before the analysis after 12 trials each");
  EXPECT_FALSE(running.gates.front().evidence.estimate);
  EXPECT_EQ(running.overall.outcome, OverallOutcome::inconclusive);
  EXPECT_EQ(running.overall.exit_code, 0);
  settings.looks = fixed_looks(8);
  EXPECT_EQ(analyse(make_duel("peak_rss_bytes", kQuiet, kTwoPercentMore), settings)
                .comparisons.front()
                .verdict,
            Verdict::regressed);
}

TEST(Analyse, JudgesACeilingOfWhatOnlyTheCandidateHas) {
  RunData run = make_duel("peak_heap_bytes", kQuiet, kQuiet);
  for (TrialData& trial : run.trials) {
    if (trial.arm != "b") continue;
    RoleData added;
    added.role = "BM_new";
    added.metrics["peak_heap_bytes"] = 1e9;
    trial.roles.push_back(added);
  }
  for (const char* gate : {"*.peak_heap_bytes<=900MiB", "BM_new.peak_heap_bytes<=900MiB"}) {
    const Results results = analyse(run, with_gates({gate}));
    EXPECT_EQ(results.overall.exit_code, 1) << gate;
    const auto added = std::ranges::find(results.gates, "BM_new", &GateResult::role);
    ASSERT_NE(added, results.gates.end()) << gate;
    EXPECT_EQ(added->outcome, GateOutcome::failed);
    EXPECT_FALSE(added->baseline);
    EXPECT_EQ(added->evidence.estimate, 1e9);
    EXPECT_EQ(added->reason, "8 of 8 trials exceed the limit of 900.0 MiB (largest 953.7 MiB)");
  }
  const Results compared = analyse(run, with_gates({"BM_new.peak_heap_bytes<=+1%"}));
  EXPECT_EQ(compared.overall.exit_code, 3);
  EXPECT_EQ(compared.gates.front().reason,
            "not measured: no trial of a recorded peak_heap_bytes for BM_new");
}

TEST(Analyse, JudgesTheOnlyVariantByCeilings) {
  RunData run = make_duel("peak_rss_bytes", mib({34.8}), {});
  run.config.variants.resize(1);
  run.config.variants[0].name = "a";
  run.environment["watched"] = nlohmann::json::array();
  const auto exit_of = [&](const char* gate) {
    return analyse(run, with_gates({gate})).overall.exit_code;
  };
  EXPECT_EQ(exit_of("all.peak_rss_bytes<=20MiB"), 1);
  EXPECT_EQ(exit_of("all.peak_rss_bytes<=40MiB"), 0);
  EXPECT_EQ(exit_of("all.peak_heap_bytes<=40MiB"), 3);
  EXPECT_EQ(analyse(run, {}).overall.outcome, OverallOutcome::no_gates);
  EXPECT_THROW(exit_of("all.peak_rss_bytes<=+2%"), Error);
}

TEST(Analyse, TheBestCandidateFailsNoGate) {
  RunData run = make_duel("peak_rss_bytes", kQuiet, kTwoPercentMore);
  run.config.variants.emplace_back().name = "c";
  for (size_t i = 0; i < kQuiet.size(); ++i)
    run.trials.push_back(
        make_trial("c", static_cast<int>(i) + 1, "all", {{"peak_rss_bytes", 0.9 * kQuiet[i]}}));
  const std::string change = "all.peak_rss_bytes<=+1%";
  EXPECT_EQ(analyse(run, with_gates({change})).overall.best, "c");
  EXPECT_EQ(analyse(run, with_gates({change, "all.peak_rss_bytes<=20MiB"})).overall.best,
            std::nullopt);
  EXPECT_EQ(analyse(make_duel("peak_rss_bytes", kQuiet, kTwoPercentMore), {}).overall.best,
            std::nullopt)
      << "worse than the baseline";
}

TEST(Analyse, MeasuredNothingWhereTheVariantsHaveNothingInCommon) {
  RunData run = make_duel("peak_rss_bytes", kQuiet, kQuiet);
  for (TrialData& trial : run.trials)
    if (trial.arm == "b") trial.roles.front().role = "other";
  EXPECT_EQ(analyse(run, {}).overall.exit_code, 3);
}

TEST(MayEnd, OnlyAtAPlannedLook) {
  std::vector<double> a = kQuiet;
  std::vector<double> b = kTwoPercentMore;
  AnalysisSettings settings = with_gates({"all.peak_rss_bytes<=+1%"});
  settings.looks = earlier_looks();
  EXPECT_TRUE(may_end(make_duel("peak_rss_bytes", a, b), settings));
  a.push_back(kQuiet[0]);
  b.push_back(kTwoPercentMore[0]);
  EXPECT_FALSE(may_end(make_duel("peak_rss_bytes", a, b), settings));
}

TEST(Analyse, NamesTheNearestRoleOfAWrongGate) {
  const RunData run = make_duel("peak_rss_bytes", kQuiet, kQuiet);
  try {
    analyse(run, with_gates({"three.peak_rss_bytes<=+1%"}));
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    EXPECT_THAT(error.message(), HasSubstr("all"));
  }
}

/// The first trials of a run of `a` and `b`; those in `recorded` have `queue_bytes`.
RunData first_trials(const std::vector<std::string>& ran, const std::string& recorded) {
  RunData run = make_duel("peak_rss_bytes", kQuiet, kTwoPercentMore);
  run.trials.clear();
  for (const std::string& variant : ran) {
    TrialData& trial = run.trials.emplace_back();
    trial.kind = TrialKind::warmup;
    trial.arm = variant;
    RoleData& role = trial.roles.emplace_back();
    role.role = "all";
    role.metrics["peak_rss_bytes"] = kMiB;
    if (variant == recorded) role.metrics["queue_bytes"] = kMiB;
  }
  return run;
}

TEST(UnmeasuredGates, AreRefusedOnceNoOtherTrialCanMeasureThem) {
  const auto refusal = [](const RunData& run, const char* gate) {
    try {
      refuse_unmeasured_gates(run, with_gates({gate}));
    } catch (const Error& error) {
      return error.message();
    }
    return std::string();
  };
  EXPECT_EQ(refusal(first_trials({}, ""), "queue_bytes<=9MiB"), "");
  EXPECT_EQ(refusal(first_trials({"b"}, ""), "queue_bytes<=9MiB"), "");
  EXPECT_EQ(refusal(first_trials({"a"}, ""), "queue_bytes<=9MiB"), "")
      << "the candidate may record it";
  EXPECT_THAT(refusal(first_trials({"a", "b"}, ""), "queue_bytes<=9MiB"),
              HasSubstr("unknown metric 'queue_bytes'\n  no trial recorded it"));
  EXPECT_EQ(refusal(first_trials({"a", "b"}, "b"), "queue_bytes<=9MiB"), "");
  EXPECT_THAT(refusal(first_trials({"a"}, ""), "perplexity<=+5%"), HasSubstr("unknown metric"))
      << "nothing to compare with";
  RunData matched = first_trials({"a", "b"}, "");
  matched.job.roles = {"server", "loader"};
  EXPECT_THAT(
      refusal(matched, "loader.peak_rss<=+5%"),
      HasSubstr("gate 'loader.peak_rss<=+5%': no trial had a process of the role 'loader'"));
  matched.trials.pop_back();
  EXPECT_EQ(refusal(matched, "loader.peak_rss<=+5%"), "") << "b may have one";
  EXPECT_THAT(refusal(first_trials({"a", "b"}, ""), "BM_push.peak_rss<=+5%"),
              HasSubstr("unknown role 'BM_push'"));
  EXPECT_EQ(refusal(first_trials({"a"}, ""), "BM_push.peak_rss<=+5%"), "")
      << "b may have such a benchmark";
  RunData failed = first_trials({"a"}, "");
  failed.trials.front().status = TrialStatus::failed;
  EXPECT_EQ(refusal(failed, "perplexity<=+5%"), "");
}

// Six times all beyond six others have p = 2 / C(12, 6), whatever number of rows that did not
// change lies beside them.
TEST(Analyse, CorrectsTheTimeOfTheJobApartFromOtherRows) {
  RunData run = make_duel("round_seconds", {1.00, 1.01, 1.02, 1.03, 1.04, 1.05},
                          {1.20, 1.21, 1.22, 1.23, 1.24, 1.25});
  const std::vector<double> noise = {5, 3, 4, 6, 2, 7};
  for (std::size_t i = 0; i < run.trials.size(); ++i)
    for (const char* metric :
         {"peak_pss_bytes", "end_rss_bytes", "minor_faults_count", "cpu_seconds"})
      run.trials[i].roles[0].metrics[metric] = (1 << 20) * noise[i % noise.size()];
  const Results results = analyse(run, with_gates({}));
  const Comparison* time = results.row("b", "all", "round_seconds");
  ASSERT_NE(time, nullptr);
  EXPECT_NEAR(*time->p_adjusted, 2.0 / 924, 1e-9);
  EXPECT_EQ(time->correction, "Holm");
  EXPECT_EQ(time->verdict, Verdict::regressed);
  const Comparison* other = results.row("b", "all", "cpu_seconds");
  ASSERT_NE(other, nullptr);
  EXPECT_EQ(other->correction, "Benjamini-Hochberg");
}

TEST(Analyse, BelievesNothingWhenItsOwnControlFlags) {
  RunData run = make_duel("peak_rss_bytes", kQuiet, kQuiet);
  run.config.variants.emplace_back().name = "twin";
  run.config.variants.back().twin_of = "a";
  for (size_t i = 0; i < kTwoPercentMore.size(); ++i) {
    run.trials.push_back(make_trial("twin", static_cast<int>(i) + 1, "all",
                                    {{"peak_rss_bytes", kTwoPercentMore[i]}}));
  }
  const Results results = analyse(run, {});
  ASSERT_EQ(results.comparisons.size(), 2U);
  EXPECT_EQ(results.comparisons[0].verdict, Verdict::inconclusive);
  EXPECT_EQ(results.comparisons[1].verdict, Verdict::regressed);
  ASSERT_EQ(results.gates.size(), 1U);
  EXPECT_EQ(results.gates.front().outcome, GateOutcome::inconclusive);
  EXPECT_EQ(results.warnings.back().code, "control_flagged");
}

// Two real runs, in the order of earlier versions, whose changes an earlier rule did not decide:
// what removed the effect of places whatever they showed, asked the means too, and corrected each
// gate of each variant by Holm.

struct RealRun {
  RunData run;
  AnalysisSettings settings;
};

RealRun real_run(const std::string& name) {
  std::ifstream file(std::string(MEMDUEL_ANALYSIS_TESTDATA) + "/" + name);
  const nlohmann::json told = nlohmann::json::parse(file);
  RealRun real;
  real.run.config = document_of_run({{"baseline", told.at("baseline")},
                                     {"variants", nlohmann::json::array()},
                                     {"gates", nlohmann::json::array()},
                                     {"measure", {{"order", "superblocks"}, {"repeats", 6}}}});
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
      real.run.config.variants.emplace_back().name = trial.arm;
    }
    real.run.trials.push_back(std::move(trial));
  }
  std::vector<std::string> gates;
  for (const nlohmann::json& gate : told.at("gates")) {
    const std::string text = gate.at("gate");
    if (std::ranges::find(gates, text) == gates.end()) gates.push_back(text);
  }
  for (const std::string& gate : gates) real.run.config.gates.push_back(gate);
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
