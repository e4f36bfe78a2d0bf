#include "confidential.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model_json.h"
#include "reports/terminal.h"
#include "reports/text_formats.h"
#include "test_sample_run.h"

namespace memduel {
namespace {

TEST(WithoutPaths, ReplacesPathsAndLeavesTheRest) {
  EXPECT_EQ(without_paths("cannot read '/home/ann/a b.csv': see ~/notes and ./x/y"),
            "cannot read '(path) b.csv': see (path) and (path)");
  EXPECT_EQ(without_paths("12 MiB/round, and/or, 3 / 4"), "12 MiB/round, and/or, 3 / 4");
}

TEST(WithoutPaths, TakesTextOfAnyLength) {
  EXPECT_EQ(without_paths("/" + std::string(1'000'000, 'x')), "(path)");
}

TEST(Confidential, LeavesNoArgumentEnvironmentValuePathOrLogLineInThePage) {
  Sample sample = make_sample({.series = false, .failed_trial = true});
  sample.run.config.workload =
      document_of_program("sample", {"server", "--token", "secret"}, "").workload;
  sample.run.config.workload.job.processes[0].env = {{"TOKEN", "secret"}};
  sample.run.config.name = "data from /srv/secret/train.bin";
  sample.results.environment["reproduce"] = "memduel compare -- server --token secret";
  sample.results.arms[0].allocator = "jemalloc";
  sample.results.arms[0].allocator_libraries = {"/srv/secret/libjemalloc.so.2"};
  sample.results.trials[0].allocators["server"] = "/srv/secret/libjemalloc.so.2";
  sample.results.equivalence[0].files = {
      {kStandardOutput, 6, 0, {}, {}, LineDifference{1, "secret of a", "secret of b"}}};
  sample.results.warnings.push_back({"disk", "/srv/secret is nearly full", ""});
  const ReportModel model = build_report_model(sample.results, sample.run, {.confidential = true});
  const std::string page = report_model_to_json(model).dump();
  EXPECT_THAT(page, testing::Not(testing::HasSubstr("secret")));
  EXPECT_THAT(page, testing::Not(testing::HasSubstr("/srv")));
  EXPECT_THAT(page, testing::HasSubstr(kLeftOut));
}

TEST(Confidential, LeavesNothingPrivateOfTheComparedVariants) {
  Sample sample = make_sample({.series = false});
  Document& config = sample.run.config;
  config.workload = {};
  for (const char* role : {"server", "client"}) {
    JobProcess& process = config.workload.job.processes.emplace_back();
    process.role = role;
    process.argv = {"run", "--token", "secret"};
  }
  config.workload.job.marks.emplace_back().pattern = "(?<round>secret)";
  for (const ArmSummary& arm : sample.results.arms) config.variants.emplace_back().name = arm.name;
  config.variants.back().argv["server"] = {"other", "secret"};
  config.variants.back().env = {{"TOKEN", "secret"}};
  config.variants.back().switches = {{"where", "/home/secret"}};
  sample.results.overall.nothing =
      "every trial of optimized failed; the first: none wrote f, /home/secret/f";
  sample.results.warnings.push_back({"no_marks", "no line matches (?<round>secret)", ""});
  const ReportModel model = build_report_model(sample.results, sample.run, {.confidential = true});
  for (const std::string& text :
       {report_model_to_json(model).dump(), render_terminal(document_of(model)),
        render_markdown(document_of(model))})
    EXPECT_THAT(text, testing::Not(testing::HasSubstr("secret"))) << text;
}

TEST(Confidential, KeepsTheNumbers) {
  const Sample sample = make_sample({.series = false});
  const ReportModel open = build_report_model(sample.results, sample.run);
  const ReportModel closed = build_report_model(sample.results, sample.run, {.confidential = true});
  EXPECT_EQ(report_model_to_json(open)["results"]["comparisons"],
            report_model_to_json(closed)["results"]["comparisons"]);
}

TEST(Confidential, LeavesOfASourceFileItsName) {
  Sample sample = make_sample({.series = false});
  Difference row;
  row.location = "secret/src/state.cpp:88";
  GrowingStack stack;
  stack.location = "secret/train.py:12";
  Growth growth;
  growth.stacks = {stack};
  sample.results.differences.push_back(row);
  sample.results.growth.push_back(growth);
  const ReportModel model = build_report_model(sample.results, sample.run, {.confidential = true});
  EXPECT_EQ(model.results.differences.back().location, "state.cpp:88");
  EXPECT_EQ(model.results.growth.back().stacks[0].location, "train.py:12");
}

}  // namespace
}  // namespace memduel
