#include "experiment/run/file_comparison.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "base/installed.h"
#include "experiment/config/placeholders.h"
#include "experiment/plan/python_settings.h"
#include "experiment/run/kept_files.h"

namespace memduel {
namespace {

namespace fs = std::filesystem;

using Pair = std::pair<std::string, std::string>;  ///< hashes

constexpr double kCompareSeconds = 600;

/// The last word of a text as a number.
std::optional<double> last_number(const std::string& text) {
  const std::size_t end = text.find_last_not_of(" \t\r\n");
  if (end == std::string::npos) return std::nullopt;
  const std::size_t space = text.find_last_of(" \t\r\n", end);
  const std::string word = text.substr(space + 1, end - space);
  char* rest = nullptr;
  const double value = std::strtod(word.c_str(), &rest);
  if (*rest != '\0' || !std::isfinite(value)) return std::nullopt;
  return value;
}

class Comparer {
 public:
  Comparer(const Experiment& experiment, const RunData& run, fs::path run_directory, fs::path logs,
           const RunTrial& run_trial)
      : experiment_(experiment),
        run_directory_(std::move(run_directory)),
        logs_(std::move(logs)),
        run_trial_(run_trial) {
    for (const TrialData& trial : run.trials) {
      if (!trial.counts()) continue;
      for (const auto& [file, sha256] : trial.files) hashes_[file][trial.arm][trial.block] = sha256;
    }
  }

  FileComparison compare() && {
    for (const JobFile& file : experiment_.job.files) {
      warn_of_variation(file.name);
      if (!file.compare.empty()) compare_arms(file);
    }
    return std::move(result_);
  }

 private:
  using ByBlock = std::map<int, std::string>;

  static std::set<std::string> distinct(const ByBlock& hashes) {
    std::set<std::string> result;
    for (const auto& [block, sha256] : hashes) result.insert(sha256);
    return result;
  }

  void warn_of_variation(const std::string& name) {
    if (experiment_.job.differs_by_block) return;
    for (const auto& [arm, hashes] : hashes_[name]) {
      const std::size_t count = distinct(hashes).size();
      if (count < 2) continue;
      result_.warnings.push_back(
          {"file_varies",
           fmt::format("the trials of arm {} leave {} different {}", arm, count, name),
           "a job that is not repeatable can hide that it computes something else; fix its seeds "
           "and threads" +
               (unpinned_python(experiment_) ? ": " + *unpinned_python(experiment_)
                                             : std::string())});
    }
  }

  void compare_arms(const JobFile& file) {
    const std::string& name = file.name;
    const ByBlock& baseline = hashes_[name][experiment_.baseline];
    const auto within =
        experiment_.job.differs_by_block ? std::nullopt : largest(file, pairs_within(baseline));
    for (const Arm& arm : experiment_.arms) {
      if (arm.name == experiment_.baseline) continue;
      const ByBlock& candidate = hashes_[name][arm.name];
      std::vector<Pair> pairs;
      for (const auto& [block, sha256] : candidate) {
        const auto found = baseline.find(block);
        if (found != baseline.end()) pairs.emplace_back(found->second, sha256);
      }
      if (pairs.empty()) continue;
      result_.differences.push_back(
          {experiment_.baseline, arm.name, name, largest(file, pairs), within});
    }
  }

  /// Each trial with the one before.
  static std::vector<Pair> pairs_within(const ByBlock& hashes) {
    std::vector<Pair> pairs;
    for (auto at = hashes.begin(); at != hashes.end() && std::next(at) != hashes.end(); ++at) {
      pairs.emplace_back(at->second, std::next(at)->second);
    }
    return pairs;
  }

  /// The largest number of all pairs; absent when there are none or one could not be compared.
  std::optional<double> largest(const JobFile& file, const std::vector<Pair>& pairs) {
    std::set<Pair> unequal;
    for (const Pair& pair : pairs) {
      if (pair.first != pair.second) unequal.insert(pair);
    }
    std::optional<double> result;
    if (!pairs.empty()) result = 0;
    for (const Pair& pair : unequal) {
      const auto number = ask(file, pair);
      if (!number) return std::nullopt;
      result = std::max(*result, *number);
    }
    return result;
  }

  std::optional<double> ask(const JobFile& file, const Pair& pair) {
    const std::string& name = file.name;
    const auto known = numbers_.find({name, pair});
    if (known != numbers_.end()) return known->second;
    const TrialPlan plan = plan_of(file, pair);
    const TrialRun run = run_trial_(plan);
    std::optional<double> number;
    std::string why = run.trial.failure;
    if (run.trial.status == TrialStatus::ok) {
      number = last_number(
          read_file(logs_ / fmt::format("{}-{}.stdout", plan.id, plan.processes[0].role)));
      why = fmt::format("{} printed no number as its last word",
                        fmt::join(plan.processes[0].argv, " "));
    }
    if (!number) {
      result_.warnings.push_back(
          {"files_not_compared", fmt::format("{} differs and could not be compared: {}", name, why),
           "compare must print a number; the files are in files/"});
    }
    return numbers_[{name, pair}] = number;
  }

  TrialPlan plan_of(const JobFile& file, const Pair& pair) const {
    const std::string& name = file.name;
    const auto value = [&](const std::string& word) -> std::optional<std::string> {
      const std::string& sha256 = word == "a" ? pair.first : pair.second;
      return kept_file(run_directory_, name, file.path, sha256).string();
    };
    TrialPlan plan;
    plan.deadline_seconds = kCompareSeconds;
    plan.log_dir = logs_;
    plan.trial_dir = run_directory_;
    ProcessSpec process;
    process.role = "compare." + name;
    for (const std::string& argument : file.compare)
      process.argv.push_back(fill_placeholders(argument, value, {}, name));
    process.argv.front() = own_program(process.argv.front());
    const std::string& cwd = experiment_.job.cwd;
    // Files outlive the trial directories.
    process.cwd = cwd.find('{') == std::string::npos ? fs::path(cwd) : run_directory_;
    plan.processes.push_back(std::move(process));
    return plan;
  }

  const Experiment& experiment_;
  fs::path run_directory_;
  fs::path logs_;
  const RunTrial& run_trial_;
  std::map<std::string, std::map<std::string, ByBlock>> hashes_;  ///< file, arm, block
  std::map<std::pair<std::string, Pair>, std::optional<double>> numbers_;
  FileComparison result_;
};

}  // namespace

FileComparison compare_files(const Experiment& experiment, const RunData& run,
                             const fs::path& run_directory, const fs::path& logs,
                             const RunTrial& run_trial) {
  return Comparer(experiment, run, run_directory, logs, run_trial).compare();
}

}  // namespace memduel
