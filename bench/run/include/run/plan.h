// From an arm of a workload to the processes of one trial.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "experiment/config/config.h"
#include "experiment/contract/trial_plan.h"

namespace memduel {

/// A machine of the allocation that a run has.
struct SiteNode {
  std::string name;
  std::string address;
};

/// What the plans of a run share; every path is absolute.
struct PlanSite {
  std::filesystem::path trials_dir;  ///< each trial makes its own folder here
  std::filesystem::path log_dir;
  std::map<std::string, std::string> environment;  ///< memduel's own, which processes inherit
  // NOLINTNEXTLINE(readability-redundant-member-init): -Wextra
  std::map<std::string, std::string> values = {};  ///< {site:NAME} by NAME
  /// The first is this machine; empty where there is no other.
  std::vector<SiteNode> nodes = {};  // NOLINT(readability-redundant-member-init): -Wextra
  /// Roles that nothing can be preloaded into, and why: found out by trials.
  // NOLINTNEXTLINE(readability-redundant-member-init): -Wextra
  std::map<std::string, std::string> unrecordable = {};
};

/// Which trial: its number in the run and its place in the design.
struct TrialSlot {
  std::int64_t id = 0;
  int block = 0;
  int position = 0;
  std::size_t arm = 0;  ///< index into Experiment::arms
  TrialKind kind = TrialKind::measure;
  std::string tracer = {};        // NOLINT(readability-redundant-member-init): -Wextra
  bool every_allocation = false;  ///< of a profile trial under a tracer that samples
  /// Of a profile trial: what is known of the peaks of its roles, in bytes of resident memory.
  std::map<std::string, double> peaks = {};  // NOLINT(readability-redundant-member-init): -Wextra
};

struct PlannedTrial {
  TrialPlan plan;
  std::map<std::filesystem::path, std::string> files;  ///< to be written before the trial starts
  std::vector<ProcessSpec> prepare;                    ///< run one after the other before the trial
  std::vector<ProcessSpec> cleanup;                    ///< likewise after it, whatever became of it
  std::vector<Artifact> artifacts;  ///< what its only process prints where it leaves nothing else
};

/// The trial's processes. All arms get environments and arguments of the same total length, and
/// directories with names of the same length: the place of a process's stack depends on both
/// (Mytkowicz et al. 2009). Takes free ports for the {port:NAME} of a command workload and reads
/// its templates: throws Error(cannot_measure) without a free port, Error(io) without a template,
/// Error(usage) for an unknown placeholder in one.
PlannedTrial plan_trial(const Experiment& experiment, const TrialSlot& slot, const PlanSite& site);

/// The variables of this process.
std::map<std::string, std::string> current_environment();

}  // namespace memduel
