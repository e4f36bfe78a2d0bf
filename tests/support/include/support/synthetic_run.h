// Runs made of given numbers, for tests.
#pragma once

#include <string>
#include <vector>

#include "model/metric_catalogue.h"
#include "model/run_data.h"
#include "stats/trial_order.h"

namespace memduel {

/// A server and its clients, as the replays have them.
inline JobFacts server_and_clients(int clients) {
  JobFacts job;
  job.roles = {"server"};
  for (int index = 1; index <= clients; ++index)
    job.roles.push_back("client-" + std::to_string(index));
  job.groups = {{"client", clients}};
  job.reference = "server";
  job.default_gates = {
      {"server", kPeakRss}, {"client_max", kPeakRss}, {"server", kRssGrowthPerRound}};
  return job;
}

/// A trial of `arm` in `block` with one role and its metrics.
inline TrialData make_trial(const std::string& arm, int block, const std::string& role,
                            const Metrics& metrics) {
  TrialData trial;
  trial.id = 2 * block + (arm == "a" ? 0 : 1);
  trial.block = block;
  trial.arm = arm;
  RoleData data;
  data.role = role;
  data.metrics = metrics;
  data.exit_status = 0;
  trial.roles.push_back(std::move(data));
  return trial;
}

/// Arms "a" (the baseline) and "b" of a command workload with one metric of role tree; a[i] and
/// b[i] are the values of block i + 1.
inline RunData make_duel(const std::string& metric, const std::vector<double>& a,
                         const std::vector<double>& b) {
  RunData run;
  run.config =
      document_of_run({{"name", "duel"},
                       {"workload", {{"processes", {{{"role", "command"}, {"argv", {"./duel"}}}}}}},
                       {"baseline", "a"},
                       {"variants", {{{"name", "a"}}, {{"name", "b"}}}}});
  run.config_sha256 = "0";
  run.environment = {{"fingerprint", "here"}};
  for (size_t i = 0; i < a.size(); ++i) {
    run.trials.push_back(make_trial("a", static_cast<int>(i) + 1, "all", {{metric, a[i]}}));
  }
  for (size_t i = 0; i < b.size(); ++i) {
    run.trials.push_back(make_trial("b", static_cast<int>(i) + 1, "all", {{metric, b[i]}}));
  }
  return run;
}

/// The same trials at the places of a restricted order that is drawn for them.
inline RunData in_restricted_order(RunData run, int blocks, std::uint64_t seed = 1) {
  Measure& measure = run.config.measure;
  measure.order = BlockOrder::restricted;
  measure.seed = seed;
  measure.repeats = blocks;
  const auto& arms = run.config.variants;
  const OrderPlan plan{seed, arms.size(), 0, segments_of(blocks)};
  for (TrialData& trial : run.trials) {
    const int superblock = (trial.block - 1) / 2;
    const Segment segment = segment_at(plan, superblock);
    const TrialOrder& order =
        segment.superblocks[static_cast<std::size_t>(superblock - segment.first)];
    int times = (trial.block - 1) % 2;
    for (std::size_t place = 0; place < order.size(); ++place)
      if (arms.at(order[place]).name == trial.arm && times-- == 0)
        trial.position = static_cast<int>(place);
    trial.id = 100 * superblock + trial.position + 1;
  }
  return run;
}

}  // namespace memduel
