#include "overrides.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/job_facts.h"
#include "util/error.h"
#include "util/file.h"

namespace memduel::cli {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

const std::string kConfig = R"({"name": "t", "baseline": "x",
  "workload": {"kind": "command", "processes": [{"role": "server", "argv": ["true"]}]},
  "variants": [{"name": "x"}, {"name": "y", "env": {"A": "1"}}],
  "measure": {"repeats": 8}, "gates": ["server.peak_rss_bytes<=1GiB"]})";

Experiment resolved(const RunOptions& options) {
  return parse_experiment(kConfig, "t.json", "/", overrides_from(options));
}

std::string refusal_of(const RunOptions& options) {
  try {
    resolved(options);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.message();
  }
  return "";
}

TEST(Overrides, OfOptionsAndSetAreAllInTheConfig) {
  RunOptions options;
  options.warmups = 3;
  options.repeats = 2;
  options.seed = 42;
  options.set = {"measure.interval_ms=7"};
  options.gate.named = {"server.peak_rss_bytes<=+2%"};
  options.gate.strict = true;
  const Experiment experiment = resolved(options);
  EXPECT_EQ(experiment.config.measure.warmups, 3);
  EXPECT_EQ(experiment.config.measure.repeats, 2);
  EXPECT_EQ(experiment.config.measure.seed, 42U);
  EXPECT_EQ(experiment.config.measure.interval_ms, 7);
  EXPECT_THAT(experiment.config.gates, ElementsAre("server.peak_rss_bytes<=+2%"));
  EXPECT_THAT(experiment.replaced_gates, ElementsAre("server.peak_rss_bytes<=1GiB"));
  EXPECT_EQ(written_document(experiment.config).at("strict_gates"), true);
}

TEST(Overrides, RefuseAValueThatIsGivenTwice) {
  RunOptions warmup;
  warmup.warmups = 3;
  warmup.set = {"measure.warmups=1"};
  EXPECT_THAT(refusal_of(warmup),
              AllOf(HasSubstr("--warmup"), HasSubstr("--set measure.warmups=1")));
  RunOptions repeats;
  repeats.repeats = 3;
  for (const char* set : {"measure.repeats=3", R"(measure={"repeats": 3})", "measure=3"}) {
    repeats.set = {set};
    EXPECT_THAT(refusal_of(repeats), HasSubstr("--repeats")) << set;
  }
  RunOptions seed;
  seed.seed = 1;
  seed.set = {"measure.seed=1"};
  EXPECT_THAT(refusal_of(seed), HasSubstr("--seed"));
  RunOptions gate;
  gate.gate.named = {"server.peak_rss_bytes<=+2%"};
  for (const char* set : {"gates=[]", "gates.0=x"}) {
    gate.set = {set};
    EXPECT_THAT(refusal_of(gate), HasSubstr("--gate")) << set;
  }
  RunOptions defaults;
  defaults.gate.no_defaults = true;
  defaults.set = {"default_gates=true"};
  EXPECT_THAT(refusal_of(defaults), HasSubstr("--no-default-gates"));
  RunOptions twice;
  twice.set = {"measure.repeats=1", "measure.interval_ms=3", "measure.repeats=2"};
  EXPECT_THAT(refusal_of(twice),
              AllOf(HasSubstr("measure.repeats=1"), HasSubstr("measure.repeats=2")));
}

TEST(Overrides, LeaveValuesThatDoNotMeetAlone) {
  RunOptions options;
  options.repeats = 3;
  options.set = {R"(measure={"interval_ms": 7})", "measure.warmups=0"};
  const Experiment experiment = resolved(options);
  EXPECT_EQ(experiment.config.measure.interval_ms, 7);
  EXPECT_EQ(experiment.config.measure.warmups, 0);
  EXPECT_EQ(experiment.config.measure.repeats, 3);
}

TEST(Overrides, OfTheDefaultGates) {
  RunOptions named;
  named.gate.named = {kDefaultGates, "server.peak_rss_bytes<=1MiB"};
  named.set = {"default_gates=false"};
  EXPECT_THAT(refusal_of(named), HasSubstr("which set the same value"));
  named.set.clear();
  named.gate.no_defaults = true;
  EXPECT_THAT(refusal_of(named), HasSubstr("--no-default-gates"));
  Overrides informing;
  informing.default_gates_if_named_only = true;
  EXPECT_EQ(written_document(parse_experiment(kConfig, "t.json", "/", informing).config)
                .at("default_gates"),
            "check");
  informing.gates = {kDefaultGates};
  EXPECT_FALSE(written_document(parse_experiment(kConfig, "t.json", "/", informing).config)
                   .contains("default_gates"));
}

TEST(Overrides, NeedADirectoryToResume) {
  RunOptions options;
  options.resume = true;
  EXPECT_THAT(refusal_of(options), HasSubstr("needs --out DIR"));
}

TEST(Overrides, AssignmentsInEffectGiveEachValueOnce) {
  RunOptions options;
  options.set_by_suite = {"measure.repeats=8", "workload.rounds=2"};
  options.set = {"workload.rounds=3"};
  options.repeats = 4;
  EXPECT_THAT(assignments_in_effect(options), ElementsAre("workload.rounds=3"));
  EXPECT_TRUE(has_assignment({R"(measure={"seed": 1})"}, "measure.seed"));
  EXPECT_FALSE(has_assignment({"measure.interval_ms=1"}, "measure.seed"));
}

TEST(Overrides, DoNotChangeWhatTheNamesOfASuiteTell) {
  const ScratchDirectory scratch(std::filesystem::temp_directory_path(), "memduel-test");
  SuiteExperiment part;
  part.name = "t-interval_ms-2";
  part.config = scratch.path() / "t.json";
  write_file_atomically(part.config, kConfig);
  part.set = {"measure.repeats=2", "measure.interval_ms=2", "variants.y.env.A=\"2\""};
  part.matrix = {"measure.interval_ms=2", "variants.y.env.A=\"2\""};
  const auto refused = [&](const RunOptions& options) {
    try {
      refuse_change_of_matrix(part, options);
    } catch (const Error& error) {
      return error.message();
    }
    return std::string();
  };
  RunOptions options;
  options.set = {"measure.repeats=4"};
  EXPECT_EQ(refused(options), "") << "the name does not tell it";
  options.set = {"measure.interval_ms=9"};
  EXPECT_THAT(refused(options), HasSubstr("measure.interval_ms"));
  options.set = {"variants.1.env.A=\"9\""};
  EXPECT_THAT(refused(options), HasSubstr("variants.y.env.A")) << "by its index";
  options.set.clear();
  part.set.emplace_back("measure.repeats=2");
  part.matrix = {"measure.repeats=2"};
  options.repeats = 4;
  EXPECT_THAT(refused(options), HasSubstr("--repeats changes measure.repeats"));
}

}  // namespace
}  // namespace memduel::cli
