// APPFL's own YAML as an experiment: one file of the server, one for each client. What the files
// say and memduel cannot do is named, never dropped in silence.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "laboratory/appfl/appfl_sources.h"

namespace memduel {

struct ImportedExperiment {
  nlohmann::ordered_json experiment;  ///< loads with load_experiment
  std::vector<ImportLoss> losses;     ///< those that change memory first, then by file and line
  std::vector<std::string> notes;     ///< what a reader should know about the arms
};

/// One client file stands for all clients, else there is one for each. Throws Error(usage) naming
/// file, line and key where no experiment can be made: malformed YAML, a value out of range, an
/// unknown model or data set, files that contradict each other.
ImportedExperiment import_appfl(const AppflFile& server, const std::vector<AppflFile>& clients);

/// "client_1.yaml:12 train_configs.device: memduel replays on the CPU", on one line.
std::string describe_loss(const ImportLoss& loss);

/// One per loss, those that change memory first; harmless ones share one.
std::vector<std::string> describe_losses(const std::vector<ImportLoss>& losses);

/// Throws Error(usage) that names every setting that changes memory and is not carried over, unless
/// `accepted` has its key or the key's last word; likewise for a word in `accepted` that names
/// none.
void refuse_losses(const std::vector<ImportLoss>& losses, const std::vector<std::string>& accepted);

/// The experiment as JSON under comments that name its sources, notes and losses.
std::string render_import(const ImportedExperiment& imported,
                          const std::vector<std::string>& source_files);

}  // namespace memduel
