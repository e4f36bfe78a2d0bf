#include "experiment/import_appfl.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "experiment/config.h"
#include "experiment/import_appfl_arms.h"
#include "experiment/import_appfl_workload.h"

namespace memduel {
namespace {

/// Nothing in a file may end the comment that it is quoted in.
std::string on_one_line(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  return text;
}

std::string experiment_name(const std::string& server_file) {
  constexpr std::size_t kMost = 100;  // the schema's
  const std::string stem = std::filesystem::path(server_file).stem().string();
  std::string name;
  for (const char c : stem) name += c > 0x20 && c < 0x7f ? c : '-';
  return name.empty() ? "appfl" : name.substr(0, kMost);
}

}  // namespace

ImportedExperiment import_appfl(const AppflFile& server, const std::vector<AppflFile>& clients,
                                const Catalog& catalog) {
  AppflSources sources(server, clients);
  ImportedExperiment imported;
  imported.experiment["name"] = experiment_name(server.name);
  imported.experiment["workload"] = import_appfl_workload(sources);
  ImportedArms arms = import_appfl_arms(
      sources, imported.experiment.at("workload").at("kind").get<std::string>(), catalog);
  imported.experiment["arms"] = std::move(arms.arms);
  imported.experiment["baseline"] = "original";
  imported.notes = std::move(arms.notes);
  imported.losses = sources.losses();
  // What loads here loads everywhere; a fault in the import must not wait for the run.
  static_cast<void>(parse_experiment(imported.experiment.dump(), server.name, "/", {}, catalog));
  return imported;
}

std::string describe_loss(const ImportLoss& loss) {
  const std::string more =
      loss.same_in_files == 0 ? "" : fmt::format(" (and in {} more)", loss.same_in_files);
  return on_one_line(fmt::format("{}:{} {}: {}{}", loss.file, loss.line, loss.key, loss.why, more));
}

std::string render_import(const ImportedExperiment& imported,
                          const std::vector<std::string>& source_files) {
  std::string text = on_one_line(fmt::format("// Imported by memduel import-appfl from {}.",
                                             fmt::join(source_files, ", "))) +
                     "\n";
  for (const std::string& note : imported.notes) text += "// " + on_one_line(note) + "\n";
  if (!imported.losses.empty()) text += "// Not carried over, or not as it stands:\n";
  for (const ImportLoss& loss : imported.losses) text += "//   " + describe_loss(loss) + "\n";
  return text + imported.experiment.dump(2) + "\n";
}

}  // namespace memduel
