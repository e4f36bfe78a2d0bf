#include <algorithm>
#include <set>

#include "analysis_steps.h"
#include "model/experiment_view.h"
#include "model/metric_catalogue.h"
#include "stats/estimates.h"

namespace memduel {
namespace {

/// Ratios and losses, and what a command prints under a name of its own.
bool is_quality(const std::string& metric, bool of_command) {
  const bool own = of_command && metric_info(metric).unit == Unit::number;
  return own || metric.ends_with("_ratio") || metric.ends_with("_loss");
}

bool is_command(const RunData& run) {
  return !run.config.workload.job.processes.empty();
}

/// Block to hash of one file in the trials that count.
std::map<int, std::string> file_hashes(const RunData& run, const ArmObservations& arm,
                                       const std::string& file) {
  std::map<int, std::string> hashes;
  for (const TrialData& trial : run.trials) {
    const auto found = trial.files.find(file);
    if (trial.arm == arm.arm && trial.counts() && found != trial.files.end())
      hashes[trial.block] = found->second;
  }
  return hashes;
}

std::set<std::string> file_names(const RunData& run) {
  std::set<std::string> names;
  for (const TrialData& trial : run.trials)
    for (const auto& [file, sha256] : trial.files) names.insert(file);
  return names;
}

bool vary(const std::map<int, std::string>& hashes) {
  return std::ranges::any_of(
      hashes, [&](const auto& of_block) { return of_block.second != hashes.begin()->second; });
}

/// Files that are another one in each block by the config's wish. {{block}} is no placeholder.
bool differ_by_block(const RunData& run) {
  const std::string text = written_document(run.config).dump();
  for (std::size_t at = text.find("{block}"); at != std::string::npos;
       at = text.find("{block}", at + 1))
    if (text[at - 1] != '{') return true;
  return false;
}

/// Null where no command was asked.
const ArtifactDifference* difference_of(const RunData& run, const ArmObservations& baseline,
                                        const ArmObservations& candidate,
                                        const std::string& artifact) {
  const auto found =
      std::ranges::find_if(run.artifact_differences, [&](const ArtifactDifference& difference) {
        return difference.baseline == baseline.arm && difference.candidate == candidate.arm &&
               difference.artifact == artifact;
      });
  return found == run.artifact_differences.end() ? nullptr : &*found;
}

std::vector<FileEquivalence> compared_files(const RunData& run, const ArmObservations& baseline,
                                            const ArmObservations& candidate) {
  std::vector<FileEquivalence> files;
  for (const std::string& name : file_names(run)) {
    FileEquivalence file;
    file.file = name;
    const auto of_a = file_hashes(run, baseline, name);
    for (const auto& [block, sha256] : file_hashes(run, candidate, name)) {
      const auto at = of_a.find(block);
      if (at == of_a.end()) continue;
      ++file.blocks;
      if (at->second == sha256) ++file.identical_blocks;
    }
    const bool equal = file.identical_blocks == file.blocks;
    const bool is_printed = name == kStandardOutput;
    // What a program prints is a result only where its own runs agree on it; one agrees with none.
    if (file.blocks == 0 || (is_printed && !equal && of_a.size() < 2)) continue;
    if (!equal && vary(of_a) && (is_printed || !differ_by_block(run))) file.variation.emplace();
    if (const auto* difference = difference_of(run, baseline, candidate, name)) {
      file.max_difference = difference->max_difference;
      file.max_within_baseline = difference->max_within_baseline;
    }
    files.push_back(std::move(file));
  }
  return files;
}

/// Absent where nothing can be compared, or nothing differs but what varies by itself.
std::optional<bool> are_identical(const std::vector<FileEquivalence>& files) {
  const auto is_other = [](const FileEquivalence& file) {
    return !file.variation && file.identical_blocks < file.blocks;
  };
  const auto varies = [](const FileEquivalence& file) { return file.variation.has_value(); };
  if (std::ranges::any_of(files, is_other)) return false;
  if (files.empty() || std::ranges::any_of(files, varies)) return std::nullopt;
  return true;
}

/// Median over trials by metric; a metric that several roles have comes from the first by name.
std::map<std::string, double> quality_medians(const ArmObservations& arm, const JobFacts& job,
                                              bool of_command) {
  std::map<RoleMetric, std::vector<double>> values;
  for (const Observation& trial : arm.trials) {
    if (trial.status != TrialStatus::ok) continue;
    for (const auto& [role, metrics] : trial.roles) {
      for (const auto& [metric, value] : metrics) {
        // Members of a group may see a share of the data; the reference role's number is the job's.
        const std::string order = role == job.reference ? "" : role;
        if (is_quality(metric, of_command)) values[{order, metric}].push_back(value);
      }
    }
  }
  std::map<std::string, double> medians;
  for (const auto& [row, numbers] : values) medians.emplace(row.metric, median(numbers));
  return medians;
}

}  // namespace

std::optional<std::string> agreed_model(const RunData& run, const std::string& arm) {
  std::optional<std::string> agreed;
  for (const TrialData& trial : run.trials) {
    if (trial.arm != arm || !trial.counts()) continue;
    if (!trial.model_sha256 || (agreed && *agreed != *trial.model_sha256)) return std::nullopt;
    agreed = trial.model_sha256;
  }
  return agreed;
}

Equivalence equivalence_of(const RunData& run, const ArmObservations& baseline,
                           const ArmObservations& candidate) {
  Equivalence result;
  result.baseline = baseline.arm;
  result.candidate = candidate.arm;
  const auto a = agreed_model(run, baseline.arm);
  const auto b = agreed_model(run, candidate.arm);
  if (a && b) result.bit_identical = *a == *b;
  if (result.bit_identical == true) result.max_abs_diff = 0;
  if (const auto* difference = difference_of(run, baseline, candidate, kFinalModel)) {
    result.bit_identical = difference->bit_identical;
    result.max_abs_diff = difference->max_difference;
  }
  result.files = compared_files(run, baseline, candidate);
  if (!result.bit_identical) result.bit_identical = are_identical(result.files);
  const bool of_command = is_command(run);
  const std::map<std::string, double> of_a = quality_medians(baseline, run.job, of_command);
  for (const auto& [metric, value] : quality_medians(candidate, run.job, of_command)) {
    const auto at = of_a.find(metric);
    if (at != of_a.end()) result.metrics[metric] = {at->second, value};
  }
  return result;
}

}  // namespace memduel
