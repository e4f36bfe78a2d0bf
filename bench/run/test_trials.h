// Trials for tests, with a value in every field.
#pragma once

#include "model/run_data.h"

namespace memduel {

/// A trial with two roles, rounds, phases and a series.
inline TrialData full_trial(std::int64_t id, int block, const std::string& arm) {
  TrialData trial;
  trial.id = id;
  trial.block = block;
  trial.position = 1;
  trial.arm = arm;
  trial.kind = block == 0 ? TrialKind::warmup : TrialKind::measure;
  trial.status = TrialStatus::ok;
  trial.begin_ns = 1'000'000'000 * id;
  trial.end_ns = trial.begin_ns + 500'000'000;
  trial.harness_cpu_seconds = 0.004;
  trial.model_sha256 = std::string(64, 'a');
  trial.files = {{"global_model", std::string(64, 'b')}};
  trial.allocators = {{"server", "/lib/libjemalloc.so.2"}};
  RoleData server;
  server.role = "server";
  server.metrics = {{"peak_rss_bytes", 2e8 + static_cast<double>(id)}, {"cpu_seconds", 1.25}};
  server.exit_status = 0;
  RoundData round{1, 10, 20, {{"round_seconds", 0.5}}, {}};
  round.phases.push_back({"aggregate", 12, 15, {{"peak_rss_bytes", 1.5e8}}});
  round.peak_rss_is_sampled = true;
  round.phases.push_back({"upload", 15, 19, {}});
  server.rounds = {round, {2, 20, 30, {}, {}}};
  server.outside_rounds = {{TrialPart::start_up, 1, 10, 2e8, false},
                           {TrialPart::after_rounds, 30, 35, 1e8, true}};
  server.peak_rss_is_sampled = true;
  server.series = {{"rss_bytes", {1, 3, 6}, {100, 90, 400}}};
  RoleData tree;
  tree.role = "all";
  trial.roles = {server, tree};
  return trial;
}

/// A trial that a signal ended.
inline TrialData killed_trial(std::int64_t id, int block, const std::string& arm) {
  TrialData trial = full_trial(id, block, arm);
  trial.status = TrialStatus::killed_for_memory;
  trial.failure = "server: killed for memory\nlast line of its log";
  trial.model_sha256.reset();
  trial.roles[0].exit_status.reset();
  trial.roles[0].exit_signal = 9;
  return trial;
}

}  // namespace memduel
