// What is known of a run before its first trial: the processes of each trial, the programs that
// they execute and what makes Python compute something else in every run, the machine and its
// settings, and what a CI runner lets memduel measure.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "config/experiment.h"
#include "meters/meter_registry.h"
#include "model/run_data.h"
#include "trial/trial_plan.h"

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

/// The file that starting a process of an arm would execute; absent when there is none, also for a
/// program that only a trial's placeholders name, and that the job itself makes.
std::optional<std::filesystem::path> program_of(const Variant& arm, const JobProcess& process);

/// The script that a shell or Python is told to run: its first argument that is a file.
std::optional<std::filesystem::path> script_of(const Variant& arm, const JobProcess& process);

/// Path to SHA-256 of every program and script that an arm names, of the commands of prepare and
/// cleanup, of templates and of allocators. Throws
/// Error(cannot_measure) for an allocator that is not installed, Error(usage) naming the
/// arm and role of a program that is not there, that a virtualenv lacks and the system has, and for
/// two arms that run the same, and for a template with an unknown placeholder, Error(io) for a
/// template that cannot be read.
std::map<std::string, std::string> program_hashes(const Experiment& experiment);

/// The part of them that no arm names: commands of prepare and cleanup, those that compare what
/// trials leave, and templates. Throws likewise.
std::map<std::string, std::string> step_hashes(const Experiment& experiment,
                                               std::span<const Variant> variants);

/// A warning of two arms whose programs or scripts are different files with equal contents while
/// all else is the same; nothing when there are none.
std::optional<Note> warning_of_equal_contents(const Experiment& experiment);

/// A warning of programs that have theirs run by a daemon or another machine (docker, ssh, …): only
/// they themselves are measured. Nothing when there are none.
std::optional<Note> warning_of_programs_elsewhere(const Experiment& experiment);

/// Whether `program` is an interpreter of Python, or a script for one.
bool is_python(const std::filesystem::path& program);

/// "PYTHONHASHSEED is not set for client-1 and server …": the roles of a command workload whose
/// program is Python, or a script for it, and which of PYTHONHASHSEED and OMP_NUM_THREADS their
/// environment lacks. Nothing when all is set or nothing is Python.
std::optional<std::string> unpinned_python(const Experiment& experiment);

/// cpu, cores, memory_bytes, swap_bytes, kernel, glibc, allocator, transparent_hugepage, aslr,
/// cgroup_limit_bytes, load, memduel, revision, then what a provider says of the site (an empty
/// object where there is none): torch, gpu, the workload's model; fingerprint last.
/// What cannot be read is absent.
/// @param root where proc/ and sys/ lie; other than "/" in tests.
nlohmann::json describe_environment(const nlohmann::json& of_site,
                                    const std::filesystem::path& root = "/");

/// Of this memduel.
std::string memduel_version();

/// 12 hexadecimal digits over what moves memory numbers: cpu, cores, kernel, glibc, allocator,
/// torch, gpu, transparent_hugepage, aslr. Runs with different fingerprints are never compared as
/// equals.
std::string environment_fingerprint(const nlohmann::json& environment);

/// Metrics that this runner does not give.
struct RunnerLoss {
  std::string metrics;
  std::string why;
  std::string remains;  ///< what answers the question instead
};

struct RunnerReport {
  std::string machine;  ///< one line
  std::vector<RunnerLoss> lost;
  std::vector<std::string> noisy;  ///< what can be measured here but hardly decided
  std::vector<std::string> gates;  ///< that hold on this runner, as --gate takes them
};

/// `capabilities` as `memduel doctor` shows them; `environment` as describe_environment gives it.
RunnerReport describe_runner(const std::vector<Capability>& capabilities,
                             const nlohmann::json& environment);

/// At most 80 columns.
std::string runner_text(const RunnerReport& report);

}  // namespace memduel
