// What memduel-fl brings, as commands of memduel and on a pseudo-terminal.
#include <gmock/gmock.h>

#include <filesystem>
#include <map>

#include "support/on_a_terminal.h"

namespace memduel {
namespace {

using testing::AllOf;
using testing::HasSubstr;

Finished expect(const Workplace& place, const std::string& words, int status) {
  Finished run = on_a_terminal(place, "'" MEMDUEL_PROGRAM "' " + words);
  EXPECT_EQ(run.status, status) << words << "\n" << run.out;
  expect_fits(run, words);
  return run;
}

TEST(FlCommands, FitTheTerminal) {
  const Workplace place;
  EXPECT_THAT(expect(place, "budget --model gat-small --device-memory 4GB", 0).out,
              HasSubstr("usable"));
  EXPECT_THAT(expect(place, "budget --model gat-smal", 2).out,
              HasSubstr("did you mean gat-small?"));
  EXPECT_THAT(expect(place, "import-appfl a.yaml b.yaml", 2).out, HasSubstr("docs/appfl.md"));
  EXPECT_THAT(expect(place, "budget --measured --model cifar-cnn --dataset dummy-cifar10", 0).out,
              HasSubstr("batch"));
  for (const char* words : {"list switches", "list presets", "list datasets", "list models"})
    expect(place, words, 0);
  for (const char* words :
       {"budget --help", "checkpoints --help", "checkpoints prune --help", "fl --help"})
    EXPECT_THAT(expect(place, words, 0).out, HasSubstr("xample")) << words;
}

TEST(FlCommands, ListsNameWhatItKnows) {
  const Workplace place;
  const std::map<std::string, std::string> expected = {{"presets", "appfl-original"},
                                                       {"switches", "streaming_fold"},
                                                       {"models", "resnet18"},
                                                       {"datasets", "mnist"}};
  for (const auto& [kind, text] : expected) {
    const Finished run = memduel(place, {"list", kind});
    EXPECT_EQ(run.status, 0) << run.err;
    EXPECT_THAT(run.out, HasSubstr(text)) << kind;
  }
  EXPECT_THAT(memduel(place, {"doctor"}).out,
              AllOf(HasSubstr("memduel-worker"), HasSubstr("LibTorch"), HasSubstr("data: mnist")));
}

/// memduel alone, as the package without memduel-fl has it.
Finished alone(const Workplace& place, const std::vector<std::string>& words) {
  const std::string program = place.path("memduel").string();
  if (!std::filesystem::exists(program)) std::filesystem::copy_file(MEMDUEL_PROGRAM, program);
  return Running(place, program, words).wait();
}

TEST(FlCommands, AreSaidToBeInItsPackageWhereItIsMissing) {
  const Workplace place;
  for (const std::string verb : {"budget", "checkpoints"}) {
    const Finished run = alone(place, {verb, "--help"});
    EXPECT_EQ(run.status, 2);
    EXPECT_THAT(run.err, AllOf(HasSubstr(verb), HasSubstr("package memduel-fl")));
  }
  EXPECT_EQ(alone(place, {"list", "models"}).status, 3);
  EXPECT_EQ(alone(place, {"list", "presets"}).status, 3);
  EXPECT_THAT(alone(place, {"doctor"}).out, HasSubstr("memduel-fl"));
  const std::string config = place.file("replay.json", R"({"name": "r", "baseline": "a",
    "workload": {"kind": "state-dict", "model": "mnist-cnn"},
    "variants": [{"name": "a"}, {"name": "b", "env": {"X": "1"}}]})");
  const Finished run = alone(place, {"run", config});
  EXPECT_EQ(run.status, 2);
  EXPECT_THAT(run.err, AllOf(HasSubstr("replay.json, line 2, $.workload.kind"),
                             HasSubstr("state-dict"), HasSubstr("memduel-fl")));
}

}  // namespace
}  // namespace memduel
