// A run on Slurm: its batch script, how its shares are submitted, watched and collected.

#include "slurm.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <thread>
#include <vector>

#include "cli/print.h"
#include "cli/program.h"
#include "follow_up_commands.h"
#include "model/run_directory.h"
#include "overrides.h"
#include "run/shares.h"
#include "run/store.h"
#include "util/bytes.h"
#include "util/command_line.h"
#include "util/error.h"
#include "util/file.h"
#include "util/process.h"
#include "util/text.h"

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
    add("--repeats", std::to_string(*experiment.config.measure.repeats));
  if (!has_assignment(assignments, "measure.seed"))
    add("--seed", std::to_string(*experiment.config.measure.seed));
  if (options.warmups) add("--warmup", std::to_string(*options.warmups));
  for (const std::string& assignment : assignments) add("--set", assignment);
  std::string arms;
  for (const std::string& arm : options.arms) arms += (arms.empty() ? "" : ",") + arm;
  if (!arms.empty()) add("--variants", arms);
  for (const std::string& gate : options.gate.named) add("--gate", gate);
  if (options.gate.strict) words.emplace_back("--gate-strict");
  if (options.gate.no_defaults) words.emplace_back("--no-default-gates");
  if (options.data_dir) add("--data-dir", fs::absolute(*options.data_dir).string());
  return words;
}

}  // namespace

int most_shares(const Experiment& experiment) {
  if (!experiment.config.measure.repeats)
    throw Error(ExitCode::usage, kNoFixedBlocks, experiment.config.name, "give --repeats N");
  superblocks_of({1, 1}, *experiment.config.measure.repeats);
  return *experiment.config.measure.repeats / 2;
}

std::string slurm_script(const std::string& config, const Experiment& experiment,
                         const RunOptions& options, int shares, const fs::path& out) {
  most_shares(experiment);
  superblocks_of({1, shares}, *experiment.config.measure.repeats);
  const std::string name = file_name_for(experiment.config.name);
  const std::string directory = quoted_command_line({out.string()});
  return fmt::format(
      R"(#!/bin/bash
# {name} in {shares} shards, each on a node of its own.
#   mkdir -p {directory} && sbatch [--time=… --mem=… --partition=…] THIS_FILE
# When all tasks have ended:
#   memduel merge {directory}/shard-* --out {directory}/run
#SBATCH --job-name=memduel-{name}
#SBATCH --array=1-{shares}
#SBATCH --nodes=1
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output={out}/log-%a.txt
number=$((SLURM_ARRAY_TASK_ID + ${{{offset}:-0}}))
shard={directory}/shard-$number
resume=()
if [ -e "$shard/run.sqlite" ]; then resume=(--resume); fi
exec {command} --shard "$number/{shares}" --out "$shard" "${{resume[@]}}"
)",
      fmt::arg("name", name), fmt::arg("shares", shares), fmt::arg("directory", directory),
      fmt::arg("out", out.string()), fmt::arg("offset", kShareOffset),
      fmt::arg("command", quoted_command_line(command_of(config, experiment, options))));
}

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

/// squeue asks the one daemon that every job of a cluster needs.
constexpr std::chrono::seconds kFirstPause{1};
constexpr std::chrono::seconds kLongestPause{30};
/// A daemon that is restarted is back by then.
constexpr std::chrono::minutes kSilence{15};

/// One share for each node that there is; every share costs a warm-up of each arm.
int shares_of(const Experiment& experiment, const SlurmOptions& slurm,
              const SlurmCommands& commands) {
  const int most = most_shares(experiment);
  if (slurm.shares) return *slurm.shares;
  const std::string option = "--partition=";
  std::string partition;
  for (const std::string& one : slurm.sbatch)
    if (one.starts_with(option)) partition = one.substr(option.size());
  const int nodes = commands.nodes(partition);
  if (nodes == 0)
    throw Error(ExitCode::cannot_measure, "Slurm has no node for this", "--partition " + partition,
                "see sinfo");
  return std::min(most, nodes);
}

SlurmRecord fresh_record(const Experiment& experiment, const SlurmOptions& slurm, int shares) {
  SlurmRecord record;
  record.name = fmt::format("memduel-{}-{}", file_name_for(experiment.config.name),
                            random_digits().substr(0, 8));
  record.config_sha256 = experiment.config_sha256;
  record.seed = *experiment.config.measure.seed;
  record.sbatch = slurm.sbatch;
  for (int share = 1; share <= shares; ++share) record.tasks.push_back({share});
  return record;
}

/// Whether a person says yes within half a minute.
bool agrees_to_cancel(const SlurmShares& shares) {
  if (isatty(STDIN_FILENO) != 1 || isatty(STDERR_FILENO) != 1) return false;
  memduel::say(fmt::format("\nSlurm still runs: {}. Cancel? [y/N] ", shares.summary()));
  pollfd input{STDIN_FILENO, POLLIN, 0};
  constexpr int kHalfAMinute = 30'000;
  std::string answer(1, ' ');
  if (poll(&input, 1, kHalfAMinute) != 1 || read(STDIN_FILENO, answer.data(), 1) != 1) return false;
  return answer == "y" || answer == "Y";
}

[[noreturn]] void leave(const StopRequest& stop, const SlurmShares& shares, const fs::path& run) {
  const std::string jobs = fmt::format("{}", fmt::join(shares.open_jobs(), " "));
  const bool by_hand = stop.error("").code() == ExitCode::interrupted;
  if (by_hand && agrees_to_cancel(shares)) {
    shares.cancel();
    throw stop.error("stopped; its tasks on Slurm are cancelled", run.string(),
                     with_command("finished trials are kept; go on with",
                                  resume_command(given_words(), run.string())));
  }
  throw stop.error("no longer waiting for Slurm, where its tasks go on", run.string(),
                   with_command(fmt::format("scancel {} ends them; wait for them again with", jobs),
                                resume_command(given_words(), run.string())));
}

/// Waits for the shares, with ever longer pauses while nothing changes.
class SlurmWait {
 public:
  SlurmWait(SlurmShares& shares, const RunOptions& options, const fs::path& run,
            const std::string& label)
      : shares_(shares), run_(run), label_(label), line_(options.quiet) {}

  void until_over() {
    while (!shares_.over()) {
      look();
      stop_if_asked();
      expect_answer();
      show();
      if (!shares_.over()) pause();
    }
    line_.finish();
  }

 private:
  void look() {
    try {
      for (const std::string& words : shares_.look()) line_.say(escape_terminal(words));
    } catch (const Error&) {
      stop_if_asked();  // which ends the command that asks Slurm, too
      throw;
    }
  }

  void stop_if_asked() {
    if (!stop_.asked()) return;
    line_.finish();
    leave(stop_, shares_, run_);
  }

  void expect_answer() {
    const Clock::time_point now = Clock::now();
    if (shares_.answers()) {
      silent_ = false;
      answered_ = now;
    } else if (!std::exchange(silent_, true)) {
      line_.say("Slurm does not respond; retrying");
    } else if (now - answered_ > kSilence) {
      throw Error(ExitCode::cannot_measure,
                  fmt::format("Slurm has not responded for {} minutes", kSilence.count()),
                  run_.string(),
                  with_command("see scontrol ping; go on with",
                               resume_command(given_words(), run_.string())));
    }
  }

  void show() {
    const std::string summary = shares_.summary();
    if (summary == shown_) return;
    shown_ = summary;
    pause_ = kFirstPause;
    const auto& tasks = shares_.tasks();
    const auto whole = std::ranges::count(tasks, std::string(kShareDone), &ShareTask::state);
    line_.show(fmt::format("{}{} of {} shards done  {}", label_, whole, tasks.size(), summary));
  }

  void pause() {
    const Clock::time_point end = Clock::now() + pause_;
    while (Clock::now() < end) {
      stop_if_asked();
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    pause_ = std::min<std::chrono::milliseconds>(pause_ * 3 / 2, kLongestPause);
  }

  SlurmShares& shares_;
  const fs::path& run_;
  const std::string& label_;
  const StopRequest& stop_ = listen_for_signals();
  ProgressLine line_;
  std::chrono::milliseconds pause_ = kFirstPause;
  Clock::time_point answered_ = Clock::now();
  bool silent_ = false;
  std::string shown_;
};

/// A run that was merged without some of its shares makes room for one with them; it is kept.
void put_aside(const fs::path& run) {
  if (!has_run(run)) return;
  fs::path aside;
  for (int number = 1; aside.empty() || is_there(aside); ++number)
    aside = shares_directory(run) / fmt::format("merged-{}", number);
  std::error_code failed;
  fs::rename(run, aside, failed);
  if (failed)
    throw Error(ExitCode::io, "cannot move the run that was merged before: " + failed.message(),
                run.string());
}

void merge(const SlurmShares& shares, const fs::path& run) {
  std::vector<fs::path> there;
  for (const ShareTask& task : shares.tasks()) {
    const fs::path share = share_directory(shares_directory(run), task.share);
    if (has_run(share)) there.push_back(share);
  }
  if (there.empty())
    throw Error(ExitCode::cannot_measure, "no shard was measured", shares_directory(run).string(),
                "see the logs there");
  put_aside(run);
  merge_shares(there, run);
}

}  // namespace

fs::path shares_directory(const fs::path& run) {
  fs::path beside = fs::absolute(run / ".").lexically_normal().parent_path();
  beside += kShardsSuffix;
  return beside;
}

bool is_on_slurm(const fs::path& run) {
  return is_there(shares_directory(run) / kSlurmFile);
}

std::uint64_t seed_on_slurm(const fs::path& run) {
  return read_slurm_record(shares_directory(run)).seed;
}

void submit_to_slurm(const std::string& config, const Experiment& experiment,
                     const RunOptions& options, const fs::path& run) {
  const fs::path directory = shares_directory(run);
  if (is_on_slurm(run)) {
    if (!options.resume)
      throw Error(ExitCode::usage, "a run was already submitted to Slurm from here",
                  directory.string(), "give another --out, or --resume to go on with it");
    SlurmRecord record = read_slurm_record(directory);
    if (record.config_sha256 != experiment.config_sha256)
      throw Error(ExitCode::usage, "another config was submitted to Slurm from here",
                  directory.string(), "give the config and the options of that run");
    const RunLock lock(directory);
    SlurmShares shares(directory, std::move(record), 0);
    if (shares.over() && !shares.has_lost()) return;
    for (const std::string& words : shares.go_on())
      if (!options.quiet) memduel::say(escape_terminal(words) + "\n");
    return;
  }
  refuse_used_directory(run, "give another --out");
  std::error_code missing;
  if (is_there(run) && !fs::is_empty(run, missing))
    throw Error(ExitCode::usage, "expected an empty directory or none, found files", run.string(),
                "give another --out");
  const SlurmCommands commands;
  const int shares = shares_of(experiment, *options.slurm, commands);
  const std::string script = slurm_script(config, experiment, options, shares, directory);
  make_directory(directory, "give another --out");
  const RunLock lock(directory);
  write_file_atomically(slurm_script_file(directory), script);
  SlurmShares handed(directory, fresh_record(experiment, *options.slurm, shares), 0, commands);
  try {
    handed.submit();
  } catch (const Error&) {
    std::error_code gone;
    if (handed.open_jobs().empty()) fs::remove_all(directory, gone);
    throw;
  }
}

void collect_from_slurm(const RunOptions& options, const fs::path& run, const std::string& label) {
  const fs::path directory = shares_directory(run);
  const RunLock lock(directory);
  SlurmShares shares(directory, read_slurm_record(directory), options.slurm->retries);
  if (shares.over() && has_run(run)) return;
  SlurmWait(shares, options, run, label).until_over();
  merge(shares, run);
}

}  // namespace memduel::cli
