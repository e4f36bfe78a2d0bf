#include "cli/slurm_script.h"

#include <fmt/format.h>

#include <filesystem>
#include <vector>

#include "base/command_line.h"
#include "base/error.h"
#include "base/installed.h"
#include "base/text.h"
#include "cli/overrides.h"
#include "experiment/run/share.h"
#include "experiment/slurm/slurm_shares.h"

namespace memduel::cli {
namespace {

namespace fs = std::filesystem;

/// What every share is given alike.
std::vector<std::string> command_of(const std::string& config, const Experiment& experiment,
                                    const RunOptions& options) {
  std::vector<std::string> words = {program_beside("memduel").string(), "run",
                                    fs::absolute(config).string()};
  const auto add = [&](const char* option, const std::string& value) {
    words.insert(words.end(), {option, value});
  };
  const std::vector<std::string> assignments = assignments_in_effect(options);
  if (!has_assignment(assignments, "measure.repeats"))
    add("--repeats", std::to_string(*experiment.measure.repeats));
  if (!has_assignment(assignments, "measure.seed"))
    add("--seed", std::to_string(experiment.measure.seed));
  if (options.warmups) add("--warmup", std::to_string(*options.warmups));
  for (const std::string& assignment : assignments) add("--set", assignment);
  std::string arms;
  for (const std::string& arm : options.arms) arms += (arms.empty() ? "" : ",") + arm;
  if (!arms.empty()) add("--arms", arms);
  for (const std::string& gate : options.gate.named) add("--gate", gate);
  if (options.gate.strict) words.emplace_back("--gate-strict");
  if (options.gate.no_defaults) words.emplace_back("--no-default-gates");
  if (options.data_dir) add("--data-dir", fs::absolute(*options.data_dir).string());
  return words;
}

}  // namespace

int most_shares(const Experiment& experiment) {
  if (!experiment.measure.repeats)
    throw Error(ExitCode::usage, kNoFixedBlocks, experiment.name, "give --repeats N");
  superblocks_of({1, 1}, *experiment.measure.repeats);
  return *experiment.measure.repeats / 2;
}

std::string slurm_script(const std::string& config, const Experiment& experiment,
                         const RunOptions& options, int shares, const fs::path& out) {
  most_shares(experiment);
  superblocks_of({1, shares}, *experiment.measure.repeats);
  const std::string name = file_name_for(experiment.name);
  const std::string directory = quoted_command_line({out.string()});
  return fmt::format(
      R"(#!/bin/bash
# {name} in {shares} shares, each on a node of its own.
#   mkdir -p {directory} && sbatch [--time=… --mem=… --partition=…] THIS_FILE
# When all tasks have ended:
#   memduel merge {directory}/share-* --out {directory}/run
#SBATCH --job-name=memduel-{name}
#SBATCH --array=1-{shares}
#SBATCH --nodes=1
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output={out}/log-%a.txt
number=$((SLURM_ARRAY_TASK_ID + ${{{offset}:-0}}))
share={directory}/share-$number
resume=()
if [ -e "$share/run.sqlite" ]; then resume=(--resume); fi
exec {command} --blocks "$number/{shares}" --out "$share" "${{resume[@]}}"
)",
      fmt::arg("name", name), fmt::arg("shares", shares), fmt::arg("directory", directory),
      fmt::arg("out", out.string()), fmt::arg("offset", kShareOffset),
      fmt::arg("command", quoted_command_line(command_of(config, experiment, options))));
}

}  // namespace memduel::cli
