#include "laboratory/appfl/import_appfl.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/error.h"
#include "experiment/config/config.h"
#include "laboratory/appfl/import_appfl_arms.h"
#include "laboratory/appfl/import_appfl_workload.h"
#include "laboratory/catalogue.h"
#include "laboratory/expand.h"

namespace memduel {
namespace {

/// Nothing in a file may end the comment that it is quoted in.
std::string on_one_line(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  return text;
}

std::string last_word(const std::string& key) {
  return key.substr(key.rfind('.') + 1);
}

std::string experiment_name(const std::string& server_file) {
  constexpr std::size_t kMost = 100;  // the schema's
  const std::string stem = std::filesystem::path(server_file).stem().string();
  std::string name;
  for (const char c : stem) name += c > 0x20 && c < 0x7f ? c : '-';
  return name.empty() ? "appfl" : name.substr(0, kMost);
}

}  // namespace

ImportedExperiment import_appfl(const AppflFile& server, const std::vector<AppflFile>& clients) {
  AppflSources sources(server, clients);
  ImportedExperiment imported;
  imported.experiment["name"] = experiment_name(server.name);
  imported.experiment["workload"] = import_appfl_workload(sources);
  ImportedArms arms =
      import_appfl_arms(sources, imported.experiment.at("workload").at("kind").get<std::string>(),
                        laboratory_catalog());
  imported.experiment["arms"] = std::move(arms.arms);
  imported.experiment["baseline"] = "original";
  imported.notes = std::move(arms.notes);
  imported.losses = sources.losses();
  // What loads here loads everywhere; a fault in the import must not wait for the run.
  static_cast<void>(
      parse_experiment(imported.experiment.dump(), server.name, "/", {}, ask_laboratory));
  return imported;
}

std::string describe_loss(const ImportLoss& loss) {
  const std::string more =
      loss.same_in_files == 0 ? "" : fmt::format(" (and in {} more)", loss.same_in_files);
  return on_one_line(fmt::format("{}:{} {}: {}{}", loss.file, loss.line, loss.key, loss.why, more));
}

std::vector<std::string> describe_losses(const std::vector<ImportLoss>& losses) {
  std::vector<std::string> lines;
  std::set<std::string> harmless;
  for (const ImportLoss& loss : losses) {
    if (loss.kind == LossKind::harmless)
      harmless.insert(last_word(loss.key));
    else
      lines.push_back(describe_loss(loss));
  }
  if (!harmless.empty())
    lines.push_back(on_one_line(fmt::format("without effect on memory (names, logs, plots): {}",
                                            fmt::join(harmless, ", "))));
  return lines;
}

void refuse_losses(const std::vector<ImportLoss>& losses,
                   const std::vector<std::string>& accepted) {
  std::set<std::string> unused(accepted.begin(), accepted.end());
  std::set<std::string> needed;
  std::vector<std::string> refused;
  for (const ImportLoss& loss : losses) {
    if (loss.kind != LossKind::changes_memory) continue;
    const std::string word = last_word(loss.key);
    needed.insert(word);
    const bool by_key = unused.contains(loss.key) || unused.contains(word);
    if (!by_key) refused.push_back(describe_loss(loss));
  }
  for (const ImportLoss& loss : losses) {
    if (loss.kind != LossKind::changes_memory) continue;
    unused.erase(loss.key);
    unused.erase(last_word(loss.key));
  }
  if (!unused.empty())
    throw Error(
        ExitCode::usage,
        fmt::format(
            "found --accept {}, expected one of what changes memory: {}", fmt::join(unused, ", "),
            needed.empty() ? "nothing here does" : fmt::format("{}", fmt::join(needed, ", "))));
  if (refused.empty()) return;
  throw Error(
      ExitCode::usage,
      fmt::format(
          "found what changes memory and is not replayed, expected --accept for each:\n  {}",
          fmt::join(refused, "\n  ")),
      "", fmt::format("--accept {}", fmt::join(needed, " --accept ")));
}

std::string render_import(const ImportedExperiment& imported,
                          const std::vector<std::string>& source_files) {
  std::string text = on_one_line(fmt::format("// Imported by memduel import-appfl from {}.",
                                             fmt::join(source_files, ", "))) +
                     "\n";
  for (const std::string& note : imported.notes) text += "// " + on_one_line(note) + "\n";
  if (!imported.losses.empty()) text += "// Not carried over, or not as it stands:\n";
  for (const std::string& line : describe_losses(imported.losses)) text += "//   " + line + "\n";
  return text + imported.experiment.dump(2) + "\n";
}

}  // namespace memduel
