// Files in testdata/hyperfine are of hyperfine 2.0.0 and 1.20.0, called as
//   hyperfine -N -w 1 -r 8 -i --export-json FILE COMMAND...
// with the program touch-mib, which fills so many MiB and exits with its second argument:
//   old: 'touch-mib 16'; new: 'touch-mib 24 3'; two: 'touch-mib 64' 'touch-mib 16';
//   scan: -L mib 8,16,32 'touch-mib {mib}'.
#include "verdict/hyperfine_json.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <functional>

#include "stats/estimates.h"
#include "util/error.h"
#include "util/file.h"
#include "verdict/analyse.h"
#include "verdict/result_files.h"

namespace memduel {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::Not;

constexpr double kMebibyteOfRuns = 1 << 20;

json sample(const std::string& name) {
  return json::parse(
      read_file(std::filesystem::path(MEMDUEL_ANALYSIS_TESTDATA) / "hyperfine" / name));
}

RunData read_sample(const std::string& name) {
  return run_from_hyperfine(sample(name), name);
}

Results analyse_unpaired(const RunData& run) {
  AnalysisSettings settings;
  settings.design = Design::unpaired;
  return analyse(run, settings);
}

const Comparison& row_of_metric(const Results& results, const std::string& metric,
                                const std::string& candidate) {
  const auto row = std::ranges::find_if(results.comparisons, [&](const Comparison& comparison) {
    return comparison.metric == metric && comparison.candidate == candidate;
  });
  if (row == results.comparisons.end()) throw std::out_of_range(metric);
  return *row;
}

auto has_code(const char* code) {
  return Contains(Field(&Note::code, code));
}

/// What the error states, and where.
std::string refusal(const json& document) {
  try {
    run_from_hyperfine(document, "h.json");
  } catch (const Error& error) {
    return error.where() + ": " + error.what();
  }
  return "accepted";
}

TEST(Hyperfine, ReadsTimeMemoryAndExitCodeOfEachRun) {
  const json document = sample("2.0-new.json");
  const RunData run = run_from_hyperfine(document, "new.json");
  ASSERT_EQ(run.trials.size(), 8U);
  const json& first = document["results"][0]["measurements"][0];
  const TrialData& trial = run.trials[0];
  EXPECT_EQ(trial.value(kTree, kRoundSeconds), first["time_wall_clock"]["value"].get<double>());
  EXPECT_EQ(trial.value(kTree, kCpuSeconds), first["time_cpu"]["value"].get<double>());
  EXPECT_EQ(trial.value(kTree, kPeakLargestProcess),
            first["memory_peak_resident"]["value"].get<double>());
  EXPECT_EQ(trial.value(kTree, kPeakRss), std::nullopt) << "the sum of all processes is not there";
  EXPECT_EQ(trial.roles[0].exit_status, 3);
  EXPECT_THAT(run.config.workload.job.processes[0].argv, ElementsAre("touch-mib", "24", "3"));
  EXPECT_THAT(run.limitations, has_code("largest_process_only"));
  EXPECT_THAT(run.warnings, Contains(Field(&Note::message,
                                           HasSubstr("8 runs of 'touch-mib 24 3' exited with 3"))));
}

TEST(Hyperfine, ComparesTwoFiles) {
  const RunData merged =
      merge_runs(read_sample("2.0-old.json"), read_sample("2.0-new.json"), "", {"old"}, {"new"});
  const Results results = analyse_unpaired(merged);
  const Comparison& peak = row_of_metric(results, kPeakLargestProcess, "new");
  EXPECT_EQ(peak.verdict, Verdict::regressed);
  EXPECT_TRUE(peak.is_asked());
  // The programs fill 16 and 24 MiB; what they have besides is about 1.1 MiB in both.
  EXPECT_NEAR(*peak.difference, 8 * kMebibyteOfRuns, 0.1 * kMebibyteOfRuns);
  EXPECT_EQ(row_of_metric(results, kRoundSeconds, "new").verdict, Verdict::inconclusive)
      << "times of different sessions get no verdict";
  EXPECT_THAT(merged.warnings, has_code("not_interleaved"));
}

TEST(Hyperfine, AGateThatItCannotJudgeNamesTheOneThatItCan) {
  const auto judged = [](const RunData& old, const char* gate) {
    AnalysisSettings settings;
    settings.design = Design::unpaired;
    settings.gates = {parse_gate(gate)};
    return analyse(merge_runs(old, read_sample("2.0-new.json"), "", {"old"}, {"new"}), settings)
        .gates.at(0);
  };
  RunData exported = read_sample("2.0-old.json");  // as memduel exports it
  for (TrialData& trial : exported.trials)
    trial.roles[1].metrics[kPeakRss] = *trial.value(kTree, kPeakLargestProcess);
  for (const RunData& old : {read_sample("2.0-old.json"), exported}) {
    const GateResult unmeasured = judged(old, "peak_rss<=+5%|+1MiB");
    EXPECT_TRUE(unmeasured.not_measured);
    EXPECT_THAT(unmeasured.reason, HasSubstr("hyperfine records the largest process only: write "
                                             "peak_largest_process_rss<=+5%|+1MiB"));
    // 24 MiB instead of 16.
    EXPECT_EQ(judged(old, "peak_largest_process_rss<=+5%").outcome, GateOutcome::failed);
    EXPECT_EQ(judged(old, "peak_largest_process_rss<=+60%").outcome, GateOutcome::passed);
  }
  EXPECT_THAT(judged(exported, "peak_heap<=+5%").reason, Not(HasSubstr("hyperfine")));
}

/// A file of these commands, one run each.
RunData file_of(const std::string& name, const std::vector<std::string>& commands) {
  json document = {{"results", json::array()}};
  for (const std::string& command : commands)
    document["results"].push_back({{"command", command}, {"times", {1, 1, 1, 1, 1}}});
  return run_from_hyperfine(document, name);
}

TEST(Hyperfine, OfTwoFilesTheCommandOfBothIsCompared) {
  RunData one = file_of("one.json", {"./new 3"});
  RunData two = file_of("two.json", {"./old 3", "./new  3"});
  const auto others = choose_commands(one, two, "");
  EXPECT_EQ(two.config.baseline, "b");
  ASSERT_TRUE(others.has_value());
  EXPECT_EQ(others->message, "1 other command of one.json and two.json is not compared");
  EXPECT_EQ(merge_runs(one, two, "", {"one"}, {"two"}).config.variants[1].argv.at(kCommand),
            (Argv{"./new", "3"}));
  RunData first = file_of("a.json", {"sort", "uniq"});
  RunData second = file_of("b.json", {"cat", "tac"});
  EXPECT_EQ(choose_commands(first, second, "")->message,
            "2 other commands of a.json and b.json are not compared");
  EXPECT_EQ(first.config.baseline, "sort");
  EXPECT_EQ(second.config.baseline, "cat");
  RunData alone = file_of("c.json", {"sort"});
  EXPECT_EQ(choose_commands(alone, alone, ""), std::nullopt);
}

TEST(Hyperfine, OfSeveralCommonCommandsOneMustBeChosen) {
  RunData a = file_of("a.json", {"./old 3", "./new 3", "cat x"});
  RunData b = file_of("b.json", {"./new 3", "./old 3"});
  const auto refusal_of_choice = [&](const std::string& chosen) {
    try {
      choose_commands(a, b, chosen);
    } catch (const Error& error) {
      return error.message();
    }
    return std::string();
  };
  EXPECT_EQ(refusal_of_choice(""),
            "compare: expected one command that both files have, found 2: './old 3', './new 3'\n"
            "  choose one, for example --variant './old 3'");
  EXPECT_EQ(refusal_of_choice("./old 3"), "");
  EXPECT_EQ(a.config.baseline, "a");
  EXPECT_EQ(b.config.baseline, "b");
  EXPECT_THAT(refusal_of_choice("cat x"),
              HasSubstr("expected a command of b.json ('./new 3', './old 3'), found \"cat x\""));
}

TEST(Hyperfine, ComparesTheResultsOfOneFile) {
  const RunData run = comparison_within(read_sample("2.0-scan.json"), "", "scan.json");
  EXPECT_THAT(run.config.variant_names(), ElementsAre("mib-8", "mib-16", "mib-32"));
  EXPECT_EQ(run.config.baseline, "mib-8");
  EXPECT_EQ(run.config.variants[2].parameters, (std::map<std::string, std::string>{{"mib", "32"}}));
  EXPECT_THAT(run.warnings, has_code("not_interleaved"));
  const Results results = analyse_unpaired(run);
  EXPECT_NEAR(*row_of_metric(results, kPeakLargestProcess, "mib-16").difference,
              8 * kMebibyteOfRuns, 0.1 * kMebibyteOfRuns);
  EXPECT_NEAR(*row_of_metric(results, kPeakLargestProcess, "mib-32").difference,
              24 * kMebibyteOfRuns, 0.1 * kMebibyteOfRuns);
  const RunData other = comparison_within(read_sample("2.0-scan.json"), "mib-32", "scan.json");
  EXPECT_EQ(other.config.baseline, "mib-32");
  EXPECT_EQ(other.environment.at("reproduce"), "memduel compare scan.json --variant mib-32");
  EXPECT_THROW(comparison_within(read_sample("2.0-scan.json"), "d", "scan.json"), Error);
  EXPECT_THROW(comparison_within(read_sample("2.0-old.json"), "", "old.json"), Error);
}

TEST(Hyperfine, OfVersion1HasOneMaximumForEachCommandThatRaisedIt) {
  // 1.20.0 reports 65.16 MiB for the second command, which fills 16 MiB.
  const json document = sample("1.20-two.json");
  EXPECT_EQ(document["results"][0]["memory_usage_byte"].back(),
            document["results"][1]["memory_usage_byte"].back());
  const RunData run = run_from_hyperfine(document, "two.json");
  ASSERT_EQ(run.trials.size(), 16U);
  std::vector<std::int64_t> with_memory;
  for (const TrialData& trial : run.trials)
    if (trial.value(kTree, kPeakLargestProcess)) with_memory.push_back(trial.id);
  EXPECT_THAT(with_memory, ElementsAre(8));
  EXPECT_EQ(run.trials[8].value(kTree, kRoundSeconds),
            document["results"][1]["times"][0].get<double>());
  EXPECT_EQ(run.trials[8].value(kTree, kCpuSeconds), std::nullopt);
  EXPECT_THAT(run.limitations, has_code("hyperfine_1_memory"));
}

TEST(Hyperfine, OfVersion1GivesNoVerdictOnMemory) {
  const RunData merged =
      merge_runs(read_sample("1.20-old.json"), read_sample("1.20-new.json"), "", {"old"}, {"new"});
  const Results results = analyse_unpaired(merged);
  const Comparison& peak = row_of_metric(results, kPeakLargestProcess, "new");
  EXPECT_EQ(peak.verdict, Verdict::inconclusive);
  EXPECT_NEAR(*peak.candidate_median - *peak.baseline_median, 8 * kMebibyteOfRuns,
              0.1 * kMebibyteOfRuns);
}

TEST(Hyperfine, NamesVariantsByTheNamesOfCommandsIfAllCanBeNames) {
  json document = sample("2.0-scan.json");
  json& results = document["results"];
  results[0]["name"] = "old build";
  results[1]["name"] = "v1.2";
  results[2]["name"] = "new";
  EXPECT_THAT(run_from_hyperfine(document, "h.json").config.variant_names(),
              ElementsAre("old_build", "v1.2", "new"));
  results[2]["name"] = "v1.2";
  EXPECT_THAT(run_from_hyperfine(document, "h.json").config.variant_names(),
              ElementsAre("a", "b", "c"));
}

TEST(Hyperfine, NamesVariantsByLettersIfTheirCommandsHaveSeveralWords) {
  json document = sample("2.0-scan.json");
  for (json& result : document["results"]) result.erase("parameters");
  const RunData run = run_from_hyperfine(document, "h.json");
  EXPECT_THAT(run.config.variant_names(), ElementsAre("a", "b", "c"));
  EXPECT_THAT(run.config.variants[2].argv.at("command"), ElementsAre("touch-mib", "32"));
  EXPECT_THAT(read_sample("1.20-two.json").config.variant_names(), ElementsAre("a", "b"));
  // hyperfine 1 writes the name of -n as the command.
  json named = sample("1.20-two.json");
  named["results"][0]["command"] = "old";
  named["results"][1]["command"] = "new";
  EXPECT_THAT(run_from_hyperfine(named, "h.json").config.variant_names(),
              ElementsAre("old", "new"));
}

TEST(Hyperfine, WarnsOfPeaksThatMayBeThoseOfHyperfine) {
  json document = sample("2.0-old.json");
  EXPECT_THAT(run_from_hyperfine(document, "h.json").warnings, Not(has_code("peak_of_hyperfine")));
  // What 2.0.0 reports for `true`, which has 1 MiB.
  document["results"][0]["measurements"][0]["memory_peak_resident"]["value"] = 2940928;
  EXPECT_THAT(run_from_hyperfine(document, "h.json").warnings, has_code("peak_of_hyperfine"));
}

TEST(Hyperfine, NeedsFiveRunsForAVerdict) {
  json document = sample("2.0-old.json");
  json& measurements = document["results"][0]["measurements"];
  while (measurements.size() > 4) measurements.erase(0);
  EXPECT_THAT(run_from_hyperfine(document, "h.json").limitations, has_code("too_few_repetitions"));
}

TEST(Hyperfine, RefusesABrokenFileOfSchema2WithItsPlace) {
  const auto broken = [](const std::function<void(json&)>& change) {
    json document = sample("2.0-old.json");
    change(document);
    return refusal(document);
  };
  EXPECT_THAT(broken([](json& j) { j["schema_version"] = 3; }),
              AllOf(HasSubstr("h.json at /schema_version"), HasSubstr("found 3")));
  EXPECT_THAT(broken([](json& j) { j["results"] = json::array(); }),
              HasSubstr("h.json at /results: expected at least one result, found []"));
  EXPECT_THAT(broken([](json& j) { j["results"][0].erase("measurements"); }),
              HasSubstr("h.json at /results/0: expected a member 'measurements'"));
  EXPECT_THAT(broken([](json& j) { j["results"][0]["measurements"] = json::array(); }),
              HasSubstr("/results/0/measurements: expected at least one run"));
  const auto of_run = [&](const std::function<void(json&)>& change) {
    return broken([&](json& j) { change(j["results"][0]["measurements"][2]); });
  };
  EXPECT_THAT(of_run([](json& run) { run["time_cpu"]["value"] = -1; }),
              HasSubstr("/results/0/measurements/2/time_cpu/value: expected a number that is not "
                        "negative, found -1"));
  EXPECT_THAT(of_run([](json& run) { run["time_cpu"]["value"] = nullptr; }),
              HasSubstr("/time_cpu/value: expected a number, found null"))
      << "NaN, as serde writes it";
  EXPECT_THAT(of_run([](json& run) { run["memory_peak_resident"]["unit"] = "kibibyte"; }),
              HasSubstr("/memory_peak_resident/unit: expected \"byte\", found \"kibibyte\""));
  EXPECT_THAT(of_run([](json& run) { run.erase("memory_peak_resident"); }),
              HasSubstr("/measurements/2: expected memory_peak_resident in all runs"));
  EXPECT_THAT(of_run([](json& run) { run["exit_code"] = "0"; }),
              HasSubstr("/exit_code: expected a whole number"));
}

TEST(Hyperfine, RefusesABrokenFileOfVersion1WithItsPlace) {
  const auto broken = [](const std::function<void(json&)>& change) {
    json document = sample("1.20-old.json");
    change(document["results"][0]);
    return refusal(document);
  };
  EXPECT_THAT(broken([](json& result) { result.erase("times"); }),
              HasSubstr("h.json at /results/0: expected a member 'times'"));
  EXPECT_THAT(broken([](json& result) { result["times"] = json::array(); }),
              HasSubstr("/results/0/times: expected at least one run"));
  EXPECT_THAT(broken([](json& result) { result["memory_usage_byte"].erase(0); }),
              HasSubstr("/results/0/memory_usage_byte: expected 8 values, one for each of times"));
  EXPECT_THAT(broken([](json& result) { result["exit_codes"].erase(0); }),
              HasSubstr("/results/0/exit_codes: expected 8 values"));
  EXPECT_THAT(broken([](json& result) { result["times"][3] = -0.5; }),
              HasSubstr("/results/0/times/3: expected a number that is not negative"));
}

TEST(Hyperfine, IsRecognizedByItsResults) {
  EXPECT_TRUE(is_hyperfine(sample("2.0-old.json")));
  EXPECT_TRUE(is_hyperfine(sample("1.20-old.json")));
  EXPECT_TRUE(is_hyperfine({{"results", json::array()}}));
  EXPECT_FALSE(is_hyperfine({{"schema", "memduel.results/2"}}));
  EXPECT_FALSE(is_hyperfine({{"context", 1}, {"benchmarks", json::array()}}));
  EXPECT_FALSE(is_hyperfine({{"results", 1}}));
  EXPECT_FALSE(is_hyperfine(1));
}

}  // namespace
}  // namespace memduel
