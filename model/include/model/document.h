// A config as it is written: one struct a section, whose members are its keys and have their
// defaults. Which keys there are, in words, is in document.cpp and job.cpp. A run has the resolved
// one, in which every default and preset is written out.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "memduel/allocator.h"
#include "model/job.h"
#include "model/run_directory.h"
#include "util/reflection.h"

namespace memduel {

inline constexpr const char* kCommandKind = "command";

template <>
inline constexpr auto kNameTable<Allocator> = kAllocatorNames;

/// A job, or what a provider makes one of.
struct Workload {
  /// Of kind command, or in a resolved config what a provider made of `own`.
  Job job;
  nlohmann::json own = nullptr;  ///< of another kind: all of it; null: it is a job

  /// kCommandKind, or a provider's.
  [[nodiscard]] std::string kind() const {
    return own.is_null() ? kCommandKind : own.at("kind").get<std::string>();
  }
  /// Whether there is one: a run that comes from results.json has none.
  [[nodiscard]] bool is_known() const { return !own.is_null() || !job.processes.empty(); }
};

/// One of the programs that are compared.
struct Variant {
  std::string name;
  std::optional<std::string> description = {};         ///< what it is, for reports
  std::optional<std::string> preset;                   ///< of a provider
  nlohmann::json switches = nlohmann::json::object();  ///< of a provider: names and values
  Environment env;                                     ///< of each process
  std::optional<Allocator> allocator;                  ///< preloaded, tuned and verified
  std::optional<std::string> cwd;
  std::map<std::string, Argv> argv;  ///< by role: instead of its own
  std::map<std::string, Argv> append;
  std::optional<std::string> twin_of;
  std::map<std::string, std::string> parameters = {};  ///< NAME to value, of a scan
  std::vector<JobTemplate> templates;                  ///< beside the job's
  std::vector<Argv> prepare;  ///< before each of its trials, after the job's own
  std::vector<Argv> cleanup;  ///< after each of its trials, before the job's own
  /// The job's, with these changes. No key: an Experiment has them.
  std::vector<JobProcess> processes = {};  // NOLINT(readability-redundant-member-init)
};

/// How the order of the variants within two blocks is drawn:
/// bench/stats/include/stats/trial_order.h.
enum class BlockOrder { restricted, superblocks };
template <>
inline constexpr NameTable<BlockOrder, 2> kNameTable<BlockOrder> = {
    {{BlockOrder::restricted, "restricted"}, {BlockOrder::superblocks, "superblocks"}}};

struct Measure {
  std::optional<int> repeats;  ///< blocks of a fixed design; absent: adaptive looks
  int warmups = 1;             ///< trials of each variant before the first block
  int warmup_rounds = 1;       ///< of a trial
  double interval_ms = 2;
  std::optional<std::vector<std::string>> meters;  ///< an Experiment has them; see default_meters()
  std::optional<std::uint64_t> seed;  ///< of the order of the variants; an Experiment has it
  /// Absent: of a run whose order is not known, as that of an early version.
  std::optional<BlockOrder> order = BlockOrder::restricted;
};

/// What measures the processes of a job where neither its config nor its provider names it.
inline std::vector<std::string> default_meters() {
  return {"procfs", "heap"};
}

struct GrowthSettings {
  std::optional<int> horizon_rounds;
};

/// Trials with a profiler attached, after the last block.
struct ProfileSettings {
  std::vector<std::string> profilers = {kRecorderTracer};
  int trials = 1;  ///< of each variant and profiler
};

/// Which variant measures a switch, or why none does.
struct PlannedCell {
  std::optional<std::string> variant;
  std::optional<std::string> idle;
  std::optional<std::string> refused;
};

struct PlannedSwitch {
  std::string name;
  PlannedCell added_alone;
  PlannedCell removed_alone;
};

struct AblationPlan {
  std::string candidate;
  std::vector<PlannedSwitch> switches;
};

/// When the workload's default gates decide the exit code if no gate is named.
enum class DefaultGatesDecide { always, never, in_check };

struct Document {
  std::string name;
  std::vector<std::string> provider;  ///< its command; empty: none
  nlohmann::json expanded = nullptr;  ///< of a resolved config: what the provider answered
  Workload workload;
  std::vector<Variant> variants;
  std::string baseline;
  Measure measure;
  std::vector<std::string> gates;
  std::optional<DefaultGatesDecide> default_gates;
  bool strict_gates = false;
  std::optional<GrowthSettings> growth;
  std::optional<ProfileSettings> profile;
  std::optional<AblationPlan> ablation;

  [[nodiscard]] std::vector<std::string> variant_names() const;
  /// Null where there is none of that name.
  [[nodiscard]] const Variant* variant(std::string_view of_name) const;
  /// That a trial has, where that is known before it runs.
  [[nodiscard]] std::optional<int> rounds() const;
  /// Whether the workload's default gates decide the exit code where no gate is named.
  [[nodiscard]] bool default_gates_decide() const {
    return default_gates.value_or(DefaultGatesDecide::always) == DefaultGatesDecide::always;
  }
};

/// A number of the workload of a run that did not keep the job which its provider made; absent of
/// any other.
std::optional<double> workload_number(const Document& document, const char* key);

/// Of one process of role kCommand, as people name a program on a command line; without variants.
Document document_of_program(const std::string& name, const Argv& argv, const std::string& cwd);

/// The resolved config of a run, as it was written. What it lacks, no version of its time had.
/// Throws Error(usage) with the path of a value that cannot be.
Document document_of_run(const nlohmann::json& written);

/// With every default that the schema has; of a run that was never planned, as a watch, what is
/// given alone.
nlohmann::json written_document(const Document& document);

/// Without what is as it is by default.
nlohmann::json given_in(const Document& document);

}  // namespace memduel
