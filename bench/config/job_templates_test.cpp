// The jobs of configs/templates: that they load, and that their patterns find what real logs say.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "config/experiment.h"
#include "resolution.h"
#include "trial/marks.h"
#include "util/file.h"

namespace memduel {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

const fs::path kTemplates = MEMDUEL_CONFIGS "/templates";

std::vector<TextMarkPattern> patterns_of(const std::string& name, const std::string& role) {
  const Experiment experiment = load_experiment(kTemplates / (name + ".json"));
  std::vector<TextMarkPattern> patterns;
  for (const auto& mark :
       planned_text_marks(experiment.config.workload.job, [](TextMarkSpec&, int) {})) {
    if (mark.role == role) patterns.emplace_back(mark.pattern);
  }
  return patterns;
}

/// What a role's patterns find in a log, in words.
std::string marks_in(const std::string& name, const std::string& role, const std::string& log) {
  auto patterns = patterns_of(name, role);
  TextRounds rounds(true);
  TextLines lines;
  std::string words;
  const auto take = [&](std::string_view line) {
    for (TextMarkPattern& pattern : patterns) {
      for (const Mark& mark : rounds.take(pattern.read(line))) {
        if (mark.kind == Mark::Kind::round_begin) words += fmt::format("round {}; ", mark.round);
        if (mark.kind == Mark::Kind::phase) words += mark.name + "; ";
        if (mark.kind == Mark::Kind::gauge) words += fmt::format("{} {}; ", mark.name, mark.value);
      }
    }
  };
  lines.feed(read_file(fs::path(MEMDUEL_LOGS) / log), take);
  lines.finish(take);
  for (const TextMarkPattern& pattern : patterns) {
    EXPECT_EQ(pattern.values_unreadable, 0) << pattern.text();
    EXPECT_EQ(pattern.lines_undecided, 0) << pattern.text();
  }
  return words;
}

TEST(JobTemplates, AllLoad) {
  int count = 0;
  for (const auto& entry : fs::directory_iterator(kTemplates)) {
    EXPECT_EQ(entry.path().extension(), ".json");
    const Experiment experiment = load_experiment(entry.path());
    EXPECT_EQ(experiment.config.name, entry.path().stem().string());
    EXPECT_FALSE(experiment.config.workload.job.processes.empty());
    // A Google Benchmark program writes its results to a file.
    EXPECT_EQ(experiment.config.workload.job.marks.empty(),
              experiment.config.name == "google-benchmark");
    ++count;
  }
  EXPECT_EQ(count, 7);
}

TEST(JobTemplates, AppflSaysTheServersRoundWithTheFirstUpdate) {
  EXPECT_EQ(marks_in("appfl", "server", "appfl-server.log"),
            "round 1; val_accuracy 0.9534343488656791; val_accuracy 0.9544978111412874; "
            "round 2; val_accuracy 0.9604373494530939; ");
}

TEST(JobTemplates, AppflsClientsPrintARowOfTheirTable) {
  EXPECT_EQ(marks_in("appfl", "client-1", "appfl-client.log"),
            "round 0; train_seconds 1.5323; train_loss 0.0862; "
            "round 1; train_seconds 1.4725; train_loss 0.0704; ");
}

TEST(JobTemplates, FlaresWorkflowsLogWhereARoundStarts) {
  EXPECT_EQ(marks_in("nvflare-simulator", "server", "nvflare-fedavg.log"), "round 0; ");
  EXPECT_EQ(marks_in("nvflare-simulator", "server", "nvflare-scatter-and-gather.log"), "round 3; ");
}

TEST(JobTemplates, FlowerLogsRoundsAndPhasesInBothOfItsForms) {
  EXPECT_EQ(marks_in("flower-simulation", "cli", "flower-fit.log"),
            "round 3; configure_fit; configure_fit; aggregate_fit; accuracy_ratio 0.0965; "
            "configure_evaluate; round 4; ");
  EXPECT_EQ(marks_in("flower-simulation", "cli", "flower-train.log"),
            "round 1; configure_train; aggregate_train; configure_evaluate; aggregate_evaluate; "
            "accuracy_ratio 0.4984; round 2; ");
}

TEST(JobTemplates, FlowersServerLogsRoundsInItsOlderWordsAndItsNewer) {
  EXPECT_EQ(marks_in("flower-server", "server", "flower-fit-round.log"),
            "round 1; fit_round; evaluate_round; round 2; fit_round; ");
  EXPECT_EQ(marks_in("flower-server", "server", "flower-train.log"),
            "round 1; configure_train; aggregate_train; configure_evaluate; aggregate_evaluate; "
            "round 2; ");
}

TEST(JobTemplates, ACppProgramRewritesItsLine) {
  EXPECT_EQ(marks_in("cpp-program", "program", "cpp-mnist.log"),
            "round 1; test_loss 0.2083; test_accuracy_ratio 0.934; "
            "round 2; test_loss 0.1287; test_accuracy_ratio 0.96; round 3; ");
}

}  // namespace
}  // namespace memduel
