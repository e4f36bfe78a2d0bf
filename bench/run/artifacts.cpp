#include "artifacts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <set>
#include <system_error>
#include <tuple>
#include <utility>

#include "config/placeholders.h"
#include "model/run_directory.h"
#include "run/plan.h"
#include "util/bytes.h"
#include "util/error.h"
#include "util/file.h"
#include "util/process.h"

namespace memduel {
namespace {

namespace fs = std::filesystem;

/// Changes whenever the file is written or replaced; absent when there is no file.
std::optional<std::string> stamp_of(const fs::path& path) {
  struct stat about{};
  if (stat(path.c_str(), &about) != 0 || !S_ISREG(about.st_mode)) return std::nullopt;
  return fmt::format("{} {} {} {}.{} {}.{}", about.st_dev, about.st_ino, about.st_size,
                     about.st_mtim.tv_sec, about.st_mtim.tv_nsec, about.st_ctim.tv_sec,
                     about.st_ctim.tv_nsec);
}

/// The clock that the kernel stamps files with.
timespec now_for_files() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME_COARSE, &now);
  return now;
}

/// A symlink to what was written before is not written.
bool leads_to_an_older_file(const fs::path& path, const timespec& begin) {
  struct stat about{};
  std::error_code ignored;
  if (!fs::is_symlink(path, ignored) || stat(path.c_str(), &about) != 0) return false;
  return std::tie(about.st_mtim.tv_sec, about.st_mtim.tv_nsec) <
         std::tie(begin.tv_sec, begin.tv_nsec);
}

/// Every place of a path in a text.
void leave_out(std::string& text, const std::string& path) {
  if (path.find('/') == std::string::npos || path == "/") return;
  std::string rest;
  std::size_t begin = 0;
  for (std::size_t at = text.find(path); at != std::string::npos; at = text.find(path, begin)) {
    rest.append(text, begin, at - begin);
    begin = at + path.size();
  }
  text = rest.append(text, begin);
}

std::optional<std::string> hash_of_output(const TrialPlan& plan, const ProcessSpec& process) {
  std::optional<std::string> text = printed_text(logs_of(plan).file(process.role, "stdout"));
  if (!text || text->empty()) return std::nullopt;
  leave_out(*text, process.argv.front());
  leave_out(*text, plan.trial_dir.string());
  leave_out(*text, process.cwd.string());
  return sha256_hex(*text);
}

void keep(const Artifact& artifact, const fs::path& copy) {
  if (fs::exists(copy)) return;
  // Under another name until it is whole: an interrupted run is resumed.
  const fs::path unfinished = copy.string() + ".new";
  try {
    fs::create_directories(copy.parent_path());
    fs::copy_file(artifact.path, unfinished, fs::copy_options::overwrite_existing);
    fs::rename(unfinished, copy);
  } catch (const fs::filesystem_error& error) {
    throw Error(ExitCode::io,
                fmt::format("cannot keep {}: {}", artifact.name, error.code().message()),
                copy.string());
  }
}

}  // namespace

std::optional<std::string> printed_text(const fs::path& log) {
  constexpr std::uintmax_t kMostPrinted = std::uintmax_t{32} << 20;
  std::error_code absent;
  const auto bytes = fs::file_size(log, absent);
  if (absent || bytes >= kMostPrinted) return std::nullopt;
  return read_file(log);
}

FileStamps::FileStamps(const std::vector<Artifact>& artifacts) : begin_(now_for_files()) {
  for (const Artifact& artifact : artifacts)
    if (artifact.kind != Artifact::Kind::printed)
      before_.emplace_back(artifact, stamp_of(artifact.path));
}

std::optional<std::string> FileStamps::first_not_written() const {
  for (const auto& [file, stamp] : before_) {
    const auto now = stamp_of(file.path);
    if (!now) {
      return fmt::format("every process succeeded, but none wrote {}, {}", file.name,
                         file.path.string());
    }
    if (leads_to_an_older_file(file.path, begin_)) {
      return fmt::format(
          "every process succeeded, but none wrote {}: {} is a symlink to a file from before the "
          "trial",
          file.name, file.path.string());
    }
    if (now == stamp) {
      return fmt::format("every process succeeded, but none wrote {}: {} is unchanged", file.name,
                         file.path.string());
    }
  }
  return std::nullopt;
}

fs::path kept_artifact(const fs::path& run_directory, const Artifact& artifact,
                       const std::string& arm, const std::string& sha256) {
  if (artifact.is_model())
    return run_directory / kModelsFolder / (kept_file_stem(arm, sha256) + ".bin");
  return run_directory / kFilesFolder /
         (kept_file_stem(artifact.name, sha256) + artifact.path.extension().string());
}

std::string kept_file_stem(const std::string& name, const std::string& sha256) {
  return fmt::format("{}-{}", name, sha256.substr(0, 12));
}

void take_artifact(const Artifact& artifact, const TrialPlan& plan, const fs::path& run_directory,
                   TrialData& trial) {
  if (artifact.kind == Artifact::Kind::printed) {
    if (auto hash = hash_of_output(plan, plan.processes.front()))
      trial.files[artifact.name] = std::move(*hash);
    return;
  }
  const std::string sha256 = sha256_hex_of_file(artifact.path);
  keep(artifact, kept_artifact(run_directory, artifact, plan.arm, sha256));
  if (artifact.is_model())
    trial.model_sha256 = sha256;
  else
    trial.files[artifact.name] = sha256;
}

namespace {

namespace fs = std::filesystem;

constexpr double kCompareSeconds = 600;

/// What a trial left, as it was kept.
struct Copy {
  fs::path path;
  std::string sha256;
};
using Pair = std::pair<Copy, Copy>;

using ByBlock = std::map<int, std::string>;  ///< hashes

std::set<std::string> distinct(const ByBlock& hashes) {
  std::set<std::string> result;
  for (const auto& [block, sha256] : hashes) result.insert(sha256);
  return result;
}

/// Enough to see how far apart two arms are when every trial ends with another model.
std::vector<std::string> some(const ByBlock& hashes) {
  constexpr std::size_t kMost = 3;
  const std::set<std::string> all = distinct(hashes);
  std::vector<std::string> result(all.begin(), all.end());
  result.resize(std::min(result.size(), kMost));
  return result;
}

bool are_equal(const Pair& pair) {
  return pair.first.sha256 == pair.second.sha256;
}

/// What a compare command says: a JSON object with max_abs_diff, or its last word as a number.
std::optional<double> printed_number(const std::string& text) {
  const auto answer = nlohmann::json::parse(text, nullptr, false);
  const auto difference = answer.is_object() ? answer.find("max_abs_diff") : answer.end();
  if (difference != answer.end() && difference->is_number()) return difference->get<double>();
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
        run_trial_(run_trial),
        differs_by_block_(mentions_block(experiment.config.workload.job)) {
    for (const TrialData& trial : run.trials) {
      if (!trial.counts()) continue;
      for (const auto& [file, sha256] : trial.files) hashes_[file][trial.arm][trial.block] = sha256;
      if (trial.model_sha256) hashes_[kFinalModel][trial.arm][trial.block] = *trial.model_sha256;
    }
  }

  ArtifactComparison compare() && {
    for (const Artifact& artifact : experiment_.config.workload.job.artifacts()) {
      warn_of_variation(artifact);
      if (!artifact.compare.empty()) compare_arms(artifact);
    }
    return std::move(result_);
  }

 private:
  void warn_of_variation(const Artifact& artifact) {
    if (differs_by_block_ && !artifact.is_model()) return;
    for (const auto& [arm, hashes] : hashes_[artifact.name]) {
      const std::size_t count = distinct(hashes).size();
      if (count < 2) continue;
      result_.warnings.push_back(artifact.is_model() ? varying_model(arm, count)
                                                     : varying_file(arm, count, artifact.name));
    }
  }

  static Note varying_model(const std::string& arm, std::size_t count) {
    return {"final_model_varies",
            fmt::format("the trials of variant {} end with {} different models", arm, count),
            "fix its seeds and thread counts; a nondeterministic workload can hide a changed "
            "result"};
  }

  [[nodiscard]] Note varying_file(const std::string& arm, std::size_t count,
                                  const std::string& name) const {
    const auto unpinned = unpinned_python(experiment_);
    return {
        "file_varies",
        fmt::format("the trials of variant {} wrote {} different versions of {}", arm, count, name),
        "fix its seeds and thread counts; a nondeterministic job can hide a changed result" +
            (unpinned ? ": " + *unpinned : std::string())};
  }

  void compare_arms(const Artifact& artifact) {
    auto& hashes = hashes_[artifact.name];
    const auto within = artifact.is_model() || differs_by_block_
                            ? std::nullopt
                            : largest(artifact, pairs_within(artifact));
    for (const Variant& arm : experiment_.variants) {
      if (arm.name == experiment_.config.baseline) continue;
      const auto pair = [&](const std::string& a, const std::string& b) {
        return Pair(copy_of(artifact, experiment_.config.baseline, a),
                    copy_of(artifact, arm.name, b));
      };
      const ByBlock& baseline = hashes[experiment_.config.baseline];
      const ByBlock& candidate = hashes[arm.name];
      std::vector<Pair> pairs;
      if (artifact.is_model()) {
        for (const std::string& a : some(baseline))
          for (const std::string& b : some(candidate)) pairs.push_back(pair(a, b));
      } else {
        for (const auto& [block, sha256] : candidate)
          if (const auto found = baseline.find(block); found != baseline.end())
            pairs.push_back(pair(found->second, sha256));
      }
      if (pairs.empty()) continue;
      result_.differences.push_back({experiment_.config.baseline, arm.name, artifact.name,
                                     std::ranges::all_of(pairs, are_equal),
                                     largest(artifact, pairs), within});
    }
  }

  [[nodiscard]] Copy copy_of(const Artifact& artifact, const std::string& arm,
                             const std::string& sha256) const {
    return {kept_artifact(run_directory_, artifact, arm, sha256), sha256};
  }

  /// Of the baseline: each trial with the one before.
  std::vector<Pair> pairs_within(const Artifact& artifact) {
    std::vector<Pair> pairs;
    const std::string* before = nullptr;
    for (const auto& [block, sha256] : hashes_[artifact.name][experiment_.config.baseline]) {
      if (before != nullptr)
        pairs.emplace_back(copy_of(artifact, experiment_.config.baseline, *before),
                           copy_of(artifact, experiment_.config.baseline, sha256));
      before = &sha256;
    }
    return pairs;
  }

  /// The largest number of all pairs; absent when there are none or one could not be compared.
  std::optional<double> largest(const Artifact& artifact, const std::vector<Pair>& pairs) {
    std::optional<double> result;
    if (!pairs.empty()) result = 0;
    for (const Pair& pair : pairs) {
      if (are_equal(pair)) continue;
      const auto number = ask(artifact, pair);
      if (!number) return std::nullopt;
      result = std::max(*result, *number);
    }
    return result;
  }

  std::optional<double> ask(const Artifact& artifact, const Pair& pair) {
    const auto [at, is_new] = numbers_.try_emplace({pair.first.path, pair.second.path});
    if (!is_new) return at->second;
    const TrialPlan plan = plan_of(artifact, pair);
    const TrialRun run = run_trial_(plan);
    std::string why = run.trial.failure;
    if (run.trial.status == TrialStatus::ok) {
      const ProcessSpec& process = plan.processes.front();
      if (const auto text = printed_text(logs_of(plan).file(process.role, "stdout")))
        at->second = printed_number(*text);
      why = fmt::format("{} did not print a number as its last word", fmt::join(process.argv, " "));
    }
    if (!at->second) {
      result_.warnings.push_back(
          {artifact.is_model() ? "models_not_compared" : "files_not_compared",
           fmt::format("{} differs and could not be compared: {}", artifact.name, why),
           fmt::format("compare must print a number; the files are in {}/",
                       artifact.is_model() ? kModelsFolder : kFilesFolder)});
    }
    return at->second;
  }

  [[nodiscard]] TrialPlan plan_of(const Artifact& artifact, const Pair& pair) const {
    const auto value = [&](const std::string& word) {
      return std::optional((word == "a" ? pair.first : pair.second).path.string());
    };
    TrialPlan plan;
    plan.deadline_seconds = kCompareSeconds;
    plan.log_dir = logs_;
    plan.trial_dir = run_directory_;
    ProcessSpec process;
    process.role = "compare." + (artifact.is_model() ? "final_model" : artifact.name);
    for (const std::string& argument : artifact.compare)
      process.argv.push_back(fill_known_placeholders(argument, value));
    process.argv.front() = own_program(process.argv.front());
    const std::string& cwd = experiment_.config.workload.job.cwd;
    // Files outlive the trial directories.
    process.cwd = cwd.find('{') == std::string::npos ? fs::path(cwd) : run_directory_;
    plan.processes.push_back(std::move(process));
    return plan;
  }

  const Experiment& experiment_;
  fs::path run_directory_;
  fs::path logs_;
  const RunTrial& run_trial_;
  bool differs_by_block_;
  std::map<std::string, std::map<std::string, ByBlock>> hashes_;  ///< artifact, arm, block
  std::map<std::pair<fs::path, fs::path>, std::optional<double>> numbers_;
  ArtifactComparison result_;
};

}  // namespace

ArtifactComparison compare_artifacts(const Experiment& experiment, const RunData& run,
                                     const fs::path& run_directory, const fs::path& logs,
                                     const RunTrial& run_trial) {
  return Comparer(experiment, run, run_directory, logs, run_trial).compare();
}

}  // namespace memduel
