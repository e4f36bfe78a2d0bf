// Every form of a gate on every kind of run: each cell is judged, and told alike by exit code and
// exports, or refused with the reason.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <set>

#include "reports/pages.h"
#include "reports/report_model.h"
#include "reports/terminal.h"
#include "reports/text_formats.h"
#include "support/synthetic_run.h"
#include "util/bytes.h"
#include "verdict/analyse.h"
#include "verdict/gates.h"
#include "verdict/result_files.h"

namespace memduel {
namespace {

using Values = std::vector<double>;

constexpr int kBlocks = 8;

/// Varies by half a percent; `bytes` is the middle.
double noisy(double bytes, int block) {
  return bytes * (1 + 0.005 * ((block * 5) % 8 - 3.5) / 3.5);
}

RoleData role_with(const std::string& role, double bytes, int block, int rounds) {
  RoleData data;
  data.role = role;
  data.exit_status = 0;
  data.metrics = {{"peak_rss_bytes", noisy(bytes, block)},
                  {"peak_heap_bytes", bytes / 2},
                  {"minor_faults_count", noisy(bytes / 4096, block + 2)},
                  {"loss", bytes / kMiB / 20},
                  {"round_seconds", noisy(0.5, block + 1)}};
  for (int round = 1; round <= rounds; ++round) {
    RoundData one;
    one.round = round;
    one.begin_ns = round * 1'000'000'000LL;
    one.end_ns = one.begin_ns + 900'000'000LL;
    one.metrics["end_rss_bytes"] = bytes + round * 1024.0 * 1024;
    data.rounds.push_back(one);
  }
  return data;
}

TrialData trial_of(const std::string& arm, int block, double mib, int rounds = 0) {
  TrialData trial = make_trial(arm, block, "all", {});
  trial.roles = {role_with("server", mib * kMiB, block, rounds),
                 role_with("all", mib * kMiB, block, rounds)};
  return trial;
}

RunData run_of(const std::map<std::string, double>& arms, int blocks = kBlocks, int rounds = 0) {
  RunData run = make_duel("peak_rss_bytes", {}, {});
  run.config.variants.clear();
  run.config.baseline = arms.begin()->first;
  run.job.roles = {"server"};
  for (const auto& [arm, mib] : arms) {
    run.config.variants.emplace_back().name = arm;
    for (int block = 1; block <= blocks; ++block)
      run.trials.push_back(trial_of(arm, block, mib, rounds));
  }
  return run;
}

void fail(TrialData& trial) {
  trial.status = TrialStatus::failed;
  trial.failure = "server: exited with status 7";
  trial.roles.clear();
}

struct Kind {
  const char* name;
  RunData run;
  Design design = Design::paired;
  bool running = false;
};

std::vector<Kind> all_kinds() {
  std::vector<Kind> kinds = {
      {"two variants", run_of({{"a", 100}, {"b", 120}})},
      {"two variants with rounds", run_of({{"a", 100}, {"b", 120}}, kBlocks, 60)},
      {"four variants", run_of({{"a", 100}, {"b", 120}, {"c", 80}, {"d", 100}})},
      {"one variant", run_of({{"a", 100}})},
      {"two blocks", run_of({{"a", 100}, {"b", 120}}, 2)},
      {"no trial", run_of({{"a", 100}, {"b", 120}}, 0)},
      {"running", run_of({{"a", 100}, {"b", 120}}), Design::paired, true}};
  Kind watched{"watched", run_of({{"command", 100}}, 1, 60)};
  watched.run.environment["watched"] = nlohmann::json::array();
  kinds.push_back(watched);
  kinds.push_back({"two runs", merge_runs(run_of({{"a", 100}}), run_of({{"a", 120}}, 6), ""),
                   Design::unpaired});
  RunData elsewhere = run_of({{"a", 120}});
  elsewhere.environment["fingerprint"] = "elsewhere";
  kinds.push_back(
      {"two environments", merge_runs(run_of({{"a", 100}}), elsewhere, ""), Design::unpaired});
  Kind more{"a role of the candidate alone", run_of({{"a", 100}, {"b", 120}})};
  for (TrialData& trial : more.run.trials)
    if (trial.arm == "b") trial.roles.push_back(role_with("kid", 1e9, trial.block, 0));
  kinds.push_back(more);
  Kind fewer{"a role of the baseline alone", run_of({{"a", 100}, {"b", 120}})};
  for (TrialData& trial : fewer.run.trials)
    if (trial.arm == "a") trial.roles.push_back(role_with("kid", 1e9, trial.block, 0));
  kinds.push_back(fewer);
  Kind once{"a candidate that failed once", run_of({{"a", 100}, {"b", 120}})};
  fail(once.run.trials.back());
  kinds.push_back(once);
  Kind dead{"a dead candidate", run_of({{"a", 100}, {"b", 120}})};
  for (TrialData& trial : dead.run.trials)
    if (trial.arm == "b") fail(trial);
  kinds.push_back(dead);
  Kind headless{"a dead baseline", run_of({{"a", 100}, {"b", 120}})};
  for (TrialData& trial : headless.run.trials)
    if (trial.arm == "a") fail(trial);
  kinds.push_back(headless);
  return kinds;
}

const std::vector<std::vector<std::string>> kGates = {
    {},
    {"default"},
    {"default", "server.peak_rss_bytes<=1MiB"},
    {"server.peak_rss_bytes<=1MiB"},
    {"server.peak_rss_bytes<=900MiB"},
    {"server.peak_rss_bytes<=+1%"},
    {"server.peak_rss_bytes<=+90%"},
    {"server.peak_rss_bytes<=+1MiB"},
    {"server.peak_rss_bytes<=+1%|900MiB"},
    {"server.peak_rss_bytes<=+1%|+1MiB"},
    {"server.peak_rss_bytes<=1MiB:advisory"},
    {"server.peak_rss_bytes<=+1%:advisory"},
    {"*.peak_rss_bytes<=900MiB"},
    {"*.peak_rss_bytes<=+1%"},
    {"*.peak_heap_bytes<=1MiB", "server.peak_heap_bytes<=+1%"},
    {"server.round_seconds<=+1%"},
    {"server.round_seconds<=1ms"},
    {"server.rss_growth_bytes_per_round<=64KiB"},
    {"server.rss_growth_bytes_per_round<=+64KiB"},
    {"server.rss_growth_bytes_per_round<=8MiB"},
    {"all.peak_cgroup_bytes<=900MiB"},
    {"server.peak_rss_bytes<=margin"},
    {"*.peak_heap_bytes<=+1%|1KiB"},
    {"server.peak_cgroup_bytes<=+1%|1KiB"},
    {"server.round_seconds<=+1%:advisory"},
    {"server.minor_faults_count<=+1%"},
    {"server.loss<=5"},
    {"*.peak_rss_bytes<=1MiB", "server.peak_rss_bytes<=1MiB"},
    {"server.peak_rss_bytes<=+90%:advisory", "server.peak_rss_bytes<=+1%"}};

std::size_t occurrences(const std::string& text, const std::string& what) {
  std::size_t found = 0;
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += what.size())
    ++found;
  return found;
}

int number_in(const std::string& xml, const std::string& attribute) {
  std::smatch found;
  const std::regex pattern(attribute + "=\"(\\d+)\"");
  return std::regex_search(xml, found, pattern) ? std::stoi(found[1]) : -1;
}

class GateMatrix : public testing::Test {
 protected:
  /// By a result that decides, unless the gate itself is advisory.
  static void expect_each_gate_judged(const Results& results, const std::vector<std::string>& gates,
                                      const std::vector<std::string>& variants) {
    for (const std::string& variant : variants)
      for (const std::string& gate : gates) {
        const bool is_default = gate == kDefaultGates;
        const bool is_advisory = gate.ends_with(":advisory");
        const auto judged = std::ranges::count_if(results.gates, [&](const GateResult& result) {
          const bool is_it = is_default ? result.gate.ends_with("<=margin") : result.gate == gate;
          return is_it && result.candidate == variant && result.advisory == is_advisory &&
                 !result.reason.empty();
        });
        // `*` and the role's name may ask the same.
        const bool is_twice = gates.size() > 1 && gates.front().starts_with("*");
        EXPECT_TRUE(judged >= 1 || is_twice) << gate << " of " << variant;
      }
  }

  /// What people read: the first screen, and Markdown.
  static void expect_told(const Results& results, const ReportModel& model) {
    const ReportDocument document = document_of(model);
    const std::string screen = render_summary(document);
    const std::string markdown = render_markdown(document);
    EXPECT_FALSE(document.sentence.empty());
    EXPECT_THAT(render_html(model), testing::HasSubstr("<html"));
    EXPECT_EQ(document.answer == Answer::fail, results.overall.exit_code == 1);
    EXPECT_THAT(document.exit.plain(),
                testing::HasSubstr("Exit code " + std::to_string(results.overall.exit_code)));
    for (const std::string& text : {screen, markdown}) {
      EXPECT_THAT(text, testing::HasSubstr(document.answer == Answer::no_gates
                                               ? "gate"
                                               : std::string(to_name(document.answer))));
      EXPECT_THAT(text, testing::HasSubstr("Exit code "));
    }
    ASSERT_GE(document.checks.size(), results.gates.size());
    for (std::size_t i = 0; i < results.gates.size(); ++i) {
      EXPECT_EQ(document.checks[i].exit_code, results.gates[i].exit_code);
      EXPECT_THAT(markdown, testing::HasSubstr(std::string(results.gates[i].word())));
    }
    if (results.overall.best) {
      EXPECT_THAT(results.gates, testing::Each(testing::Not(testing::ResultOf(
                                     [&](const GateResult& gate) {
                                       return gate.fails() &&
                                              gate.candidate == *results.overall.best;
                                     },
                                     true))));
      EXPECT_TRUE(std::ranges::any_of(results.comparisons, [&](const Comparison& row) {
        return row.candidate == *results.overall.best && row.verdict == Verdict::improved;
      }));
    }
  }

  static void expect_one_answer(const Results& results, const RunData& run) {
    const auto with = [&](auto... codes) {
      return std::ranges::count_if(results.gates, [&](const GateResult& gate) {
        return ((gate.exit_code == codes) || ...);
      });
    };
    for (const GateResult& gate : results.gates) {
      if (gate.advisory) {
        EXPECT_EQ(gate.exit_code, 0) << gate.gate;
      }
      if (gate.outcome == GateOutcome::passed) {
        EXPECT_EQ(gate.exit_code, 0) << gate.gate;
      }
      if (gate.outcome == GateOutcome::failed && !gate.advisory) {
        EXPECT_EQ(gate.exit_code, 1) << gate.gate;
      }
    }
    const Overall& overall = results.overall;
    if (with(1) > 0) {
      EXPECT_EQ(overall.exit_code, 1);
    }
    if (with(1) == 0 && with(3) > 0) {
      EXPECT_EQ(overall.exit_code, 3);
    }
    if (with(1, 3) == 0 && with(5) > 0) {
      EXPECT_THAT(overall.exit_code, testing::AnyOf(3, 5));
    }
    if (overall.exit_code == 1) {
      EXPECT_EQ(overall.outcome, OverallOutcome::failed);
    }
    if (overall.exit_code == 3) {
      EXPECT_EQ(overall.outcome, OverallOutcome::not_measured);
    }
    if (overall.exit_code == 5) {
      EXPECT_EQ(overall.outcome, OverallOutcome::inconclusive);
    }
    const ReportModel model = build_report_model(results, run);
    const std::string xml = render_junit(document_of(model));
    const int nothing = overall.exit_code == 3 && with(3) == 0 ? 1 : 0;
    EXPECT_EQ(number_in(xml, "tests"), static_cast<int>(results.gates.size()) + nothing);
    EXPECT_EQ(number_in(xml, "failures"), with(1, 5));
    EXPECT_EQ(number_in(xml, "errors"), with(3) + nothing);
    EXPECT_EQ(number_in(xml, "failures") + number_in(xml, "errors") > 0, overall.exit_code != 0);
    expect_unique_names(results);
    const std::string github = render_github(document_of(model));
    EXPECT_EQ(occurrences(github, "\n"), 1 + results.gates.size() + nothing);
    EXPECT_EQ(occurrences(github, "::error "), static_cast<std::size_t>(with(1, 3, 5) + nothing));
    expect_told(results, model);
    const Results again = results_from_json(results_to_json(results), "results.json");
    EXPECT_EQ(again.overall.exit_code, overall.exit_code);
    EXPECT_EQ(again.overall.outcome, overall.outcome);
    EXPECT_EQ(render_junit(document_of(build_report_model(again, run))), xml);
  }

  static void expect_unique_names(const Results& results) {
    std::set<std::string> names;
    for (const GateResult& gate : results.gates)
      EXPECT_TRUE(names.insert(gate.candidate + "/" + gate.name()).second) << gate.name();
  }
};

TEST_F(GateMatrix, JudgesOrRefusesEachCell) {
  int judged = 0;
  int refused = 0;
  for (const Kind& kind : all_kinds()) {
    for (const std::vector<std::string>& gates : kGates) {
      AnalysisSettings settings;
      settings.design = kind.design;
      settings.looks = fixed_looks(kind.running ? 2 * kBlocks : kBlocks);
      settings.still_running = kind.running;
      name_gates(settings, gates);
      SCOPED_TRACE(std::string(kind.name) + ": " +
                   (gates.empty() ? std::string("no gate") : gates.front()));
      try {
        const Results results = analyse(kind.run, settings);
        expect_each_gate_judged(results, gates, judged_variants(view_experiment(kind.run)));
        expect_one_answer(results, kind.run);
        ++judged;
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ExitCode::usage);
        EXPECT_STRNE(error.what(), "");
        ++refused;
      }
    }
  }
  EXPECT_GT(judged, 350);
  EXPECT_LT(refused, judged / 5);
}

int exit_of(const RunData& run, const std::string& gate, Design design = Design::paired) {
  AnalysisSettings settings;
  settings.design = design;
  name_gates(settings, {gate});
  return analyse(run, settings).overall.exit_code;
}

/// The answers that the numbers of the runs above ask for.
TEST_F(GateMatrix, GivesTheAnswerThatTheNumbersAskFor) {
  std::map<std::string, RunData> run;
  for (const Kind& kind : all_kinds()) run[kind.name] = kind.run;
  EXPECT_EQ(exit_of(run["two variants"], "server.peak_rss_bytes<=+1%"), 1) << "100 to 120 MiB";
  EXPECT_EQ(exit_of(run["two variants"], "server.peak_rss_bytes<=+90%"), 0);
  EXPECT_EQ(exit_of(run["two variants"], "server.peak_rss_bytes<=+1%|900MiB"), 0);
  EXPECT_EQ(exit_of(run["two blocks"], "server.peak_rss_bytes<=+1%"), 5) << "+20% in both";
  EXPECT_EQ(exit_of(run["two blocks"], "server.peak_rss_bytes<=+90%"), 0);
  EXPECT_EQ(exit_of(run["no trial"], "server.peak_rss_bytes<=900MiB"), 3);
  EXPECT_EQ(exit_of(run["watched"], "all.peak_rss_bytes<=1MiB"), 1);
  EXPECT_EQ(exit_of(run["watched"], "all.peak_rss_bytes<=900MiB"), 0);
  EXPECT_EQ(exit_of(run["a role of the candidate alone"], "*.peak_rss_bytes<=900MiB"), 1);
  EXPECT_EQ(exit_of(run["a role of the candidate alone"], "kid.peak_rss_bytes<=1KiB"), 1);
  EXPECT_EQ(exit_of(run["a role of the candidate alone"], "kid.peak_rss_bytes<=+1%"), 3);
  EXPECT_EQ(exit_of(run["a role of the candidate alone"], "kid.peak_rss_bytes<=+1%|1KiB"), 1);
  EXPECT_EQ(exit_of(run["a role of the candidate alone"], "kid.peak_rss_bytes<=+1%|2GiB"), 0);
  EXPECT_EQ(exit_of(run["a role of the candidate alone"], "*.peak_rss_bytes<=+1%|1KiB"), 1);
  EXPECT_EQ(exit_of(run["a role of the candidate alone"], "*.peak_rss_bytes<=+90%"), 0);
  EXPECT_EQ(exit_of(run["a role of the baseline alone"], "kid.peak_rss_bytes<=900MiB"), 3);
  EXPECT_EQ(exit_of(run["a candidate that failed once"], "server.peak_rss_bytes<=900MiB"), 1);
  EXPECT_EQ(exit_of(run["a dead candidate"], "server.peak_rss_bytes<=+90%"), 1);
  EXPECT_EQ(exit_of(run["a dead baseline"], "server.peak_rss_bytes<=+90%"), 3);
  EXPECT_EQ(exit_of(run["a dead baseline"], "*.peak_rss_bytes<=+90%"), 3);
  EXPECT_EQ(exit_of(run["two runs"], "default", Design::unpaired), 1);
  EXPECT_THROW(exit_of(run["watched"], "default"), Error);
  EXPECT_EQ(exit_of(run["a dead baseline"], "server.peak_rss_bytes<=900MiB"), 3)
      << "the comparison that was asked for did not take place";
  EXPECT_EQ(exit_of(run["two runs"], "server.peak_rss_bytes<=+1%", Design::unpaired), 1);
  EXPECT_THROW(exit_of(run["two runs"], "server.round_seconds<=+1%", Design::unpaired), Error);
  EXPECT_THROW(exit_of(run["one variant"], "server.peak_rss_bytes<=+1%"), Error);
}

}  // namespace
}  // namespace memduel
