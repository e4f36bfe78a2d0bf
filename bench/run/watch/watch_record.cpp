#include "watch_record.h"

#include <cstdlib>
#include <utility>

#include "model/run_data.h"
#include "remote_roles.h"
#include "run/plan.h"
#include "sampling_interval.h"
#include "trial/marks.h"
#include "util/bytes.h"
#include "util/command_line.h"
#include "util/text.h"

namespace memduel {
namespace {

using nlohmann::json;

std::string reproduction(const WatchOptions& options) {
  std::vector<std::string> words = {"memduel", "watch"};
  const auto add = [&](const char* option, const std::string& value) {
    words.insert(words.end(), {option, value});
  };
  if (options.round_pattern) add("--round-pattern", *options.round_pattern);
  for (const auto& log : options.logs) add("--log", log.string());
  for (const std::string& gate : options.gates) add("--gate", gate);
  for (const pid_t pid : options.pids) add("--pid", std::to_string(pid));
  if (!options.command.empty()) words.emplace_back("--");
  words.insert(words.end(), options.command.begin(), options.command.end());
  return quoted_command_line(words);
}

Document watch_config(const WatchOptions& options, const std::vector<WatchTarget>& targets) {
  constexpr double kMillisecondsPerSecond = 1000;
  Document config;
  config.name = "watch";
  for (const WatchTarget& target : targets) {
    JobProcess& process = config.workload.job.processes.emplace_back();
    process.role = target.role;
    for (const std::string& word : target.argv) process.argv.push_back(valid_utf8(word));
  }
  config.variants.emplace_back().name = kWatchArm;
  config.baseline = kWatchArm;
  config.measure.repeats = 1;
  config.measure.warmups = 0;
  config.measure.warmup_rounds = 0;
  config.measure.interval_ms = options.interval_seconds * kMillisecondsPerSecond;
  config.measure.meters = {"procfs"};
  config.measure.order.reset();  // of one variant
  config.gates = options.gates;
  return config;
}

}  // namespace

RunHeader watch_header(const WatchOptions& options, const std::vector<WatchTarget>& targets,
                       const std::optional<MemoryLimit>& limit) {
  RunHeader header;
  header.config = watch_config(options, targets);
  header.config_sha256 = sha256_hex(written_document(header.config).dump());
  for (const WatchTarget& target : targets) header.job.roles.push_back(target.role);
  header.job.reference = targets.front().role;
  if (options.round_pattern) {
    const TextMarkPattern pattern(*options.round_pattern);
    for (const auto& [metric, better] : pattern.metrics()) header.job.better[metric] = better;
  }
  header.environment = describe_environment(json::object());
  header.environment["reproduce"] = valid_utf8(reproduction(options));
  // The limit of what is watched, which may be in another control group than memduel.
  header.environment.erase("cgroup_limit_bytes");
  if (limit && !limit->group.empty()) header.environment["cgroup_limit_bytes"] = limit->bytes;
  json watched = json::array();
  for (const WatchTarget& target : targets) {
    json one = {{"role", target.role}};
    if (target.pid) one["pid"] = *target.pid;
    if (target.seconds_before) one["seconds_before"] = *target.seconds_before;
    watched.push_back(one);
  }
  header.environment["watched"] = watched;
  if (const char* token = std::getenv(kNodeToken)) header.environment["node_token"] = token;
  return header;
}

WatchRecord::WatchRecord(const WatchOptions& options, const std::vector<WatchTarget>& targets,
                         const std::optional<MemoryLimit>& limit)
    : options_(options),
      store_(Store::create(options.directory, watch_header(options, targets, limit))) {}

void WatchRecord::rename(const std::vector<WatchTarget>& targets) {
  store_.replace_config(watch_config(options_, targets));
}

void WatchRecord::grow(TrialData trial) {
  trial.arm = kWatchArm;
  stored_interval_ms_ = stored_interval_ms(trial.roles);
  store_.grow_trial(trial);
}

void WatchRecord::note_interval() {
  if (!stored_interval_ms_) return;
  if (const auto note = sampled_less_often({*stored_interval_ms_}, options_.interval_seconds * 1000,
                                           "a long watch keeps a bounded number of samples, and "
                                           "of each stretch the smallest and the largest"))
    store_.add_limitation(*note);
}

}  // namespace memduel
