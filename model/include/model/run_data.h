// What one run measured, as plain values: filled by experiment/, kept in run.sqlite, read by
// analysis/ and reports/. Times are CLOCK_MONOTONIC nanoseconds; metric units are in the metric's
// name.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/job_facts.h"
#include "base/metrics.h"
#include "base/names.h"
#include "base/shared_vector.h"

namespace memduel {

inline constexpr const char* kKilledForMemory = "was killed for memory";

enum class TrialKind { warmup, measure, profile };
enum class TrialStatus { ok, failed, killed_for_memory, dropped };
template <>
inline constexpr NameTable<TrialKind, 3> kNameTable<TrialKind> = {
    {{TrialKind::warmup, "warmup"},
     {TrialKind::measure, "measure"},
     {TrialKind::profile, "profile"}}};
template <>
inline constexpr NameTable<TrialStatus, 4> kNameTable<TrialStatus> = {
    {{TrialStatus::ok, "ok"},
     {TrialStatus::failed, "failed"},
     {TrialStatus::killed_for_memory, "killed_for_memory"},
     {TrialStatus::dropped, "dropped"}}};

/// One stretch of a round in one process-wide phase; a phase name may return within a round.
struct PhaseData {
  std::string phase;
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  Metrics metrics;
};

struct RoundData {
  int round = 0;  ///< counted from 1
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  Metrics metrics;
  std::vector<PhaseData> phases;
  /// peak_rss_bytes is the largest sample, not the kernel's maximum, which may be larger.
  bool peak_rss_is_sampled = false;
};

/// What a trial has besides its rounds.
enum class TrialPart { start_up, between_rounds, after_rounds };
template <>
inline constexpr NameTable<TrialPart, 3> kNameTable<TrialPart> = {
    {{TrialPart::start_up, "start_up"},
     {TrialPart::between_rounds, "between_rounds"},
     {TrialPart::after_rounds, "after_rounds"}}};

/// The peak outside rounds: before the first, in the gap between two that has the largest peak, or
/// after the last.
struct OutsideRounds {
  TrialPart part = TrialPart::start_up;
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  double peak_rss_bytes = 0;
  bool peak_rss_is_sampled = false;  ///< as in RoundData
};

/// Samples of one metric in time order; both vectors have the same length.
struct Series {
  std::string metric;
  std::vector<std::int64_t> t_ns;
  std::vector<std::int64_t> values;
};

/// One process of a trial, or the group `tree` (all processes together).
struct RoleData {
  std::string role;
  Metrics metrics;
  SharedVector<RoundData> rounds;
  SharedVector<Series> series;
  std::optional<int> exit_status;  ///< absent when ended by a signal, and for `tree`
  std::optional<int> exit_signal;
  /// By its program, of metrics of its own.
  std::set<DeclaredDirection> declared = {};  // NOLINT(readability-redundant-member-init): -Wextra
  /// One of each part at most. peak_rss_bytes of the role is the largest of these and its rounds'.
  std::vector<OutsideRounds> outside_rounds = {};  // NOLINT(readability-redundant-member-init)
  bool peak_rss_is_sampled = false;                ///< as in RoundData
};

/// Among a trial's files: what a program that has to leave none printed. No file is called so.
inline constexpr const char* kStandardOutput = "standard output";
/// Another name that no file of a config may have.
inline constexpr const char* kFinalModel = "the final model";

struct TrialData {
  std::int64_t id = 0;  ///< counted from 1 over the whole run
  int block = 0;        ///< 0 is the warm-up block
  int position = 0;     ///< place within the block's random order, from 0
  std::string arm;
  TrialKind kind = TrialKind::measure;
  std::string tracer;  ///< of a profile trial; empty otherwise
  TrialStatus status = TrialStatus::ok;
  std::string failure;         ///< role, signal or status, last log lines; empty when ok
  bool harness_fault = false;  ///< our own fault: drops the whole block
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  double harness_cpu_seconds = 0;  ///< CPU time of memduel and its launcher during the trial
  std::optional<std::string>
      model_sha256;  ///< of the final global model, where the workload has one
  std::map<std::string, std::string> files;  ///< name to SHA-256 of what the trial had to leave,
                                             ///< or of kStandardOutput
  /// Role to the file from which its malloc was seen to come, where the arm names an allocator.
  std::map<std::string, std::string> allocators;
  std::vector<RoleData> roles;

  /// A measured one that ended well: its numbers go into the verdict.
  [[nodiscard]] bool counts() const {
    return kind == TrialKind::measure && status == TrialStatus::ok;
  }
  [[nodiscard]] double seconds() const { return static_cast<double>(end_ns - begin_ns) * 1e-9; }
  /// Absent where the trial has no such role, or the role no such metric.
  [[nodiscard]] std::optional<double> value(std::string_view role, std::string_view metric) const;
};

inline std::optional<double> TrialData::value(std::string_view role,
                                              std::string_view metric) const {
  const auto found = std::ranges::find(roles, role, &RoleData::role);
  return found == roles.end() ? std::nullopt : found->metrics.value(metric);
}

/// A limitation or a warning: something expected that was not possible here; something that weakens
/// a claim, with advice.
struct Note {
  std::string code;  ///< stable name in snake_case
  std::string message;
  std::string advice;
};

/// Of a role whose memory is Go's own heap, which no recorder can enter.
inline constexpr const char* kGoHeapNote = "go_heap";

/// The difference of an artifact between two arms, by its `compare` command.
struct ArtifactDifference {
  std::string baseline;
  std::string candidate;
  std::string artifact;  ///< the name of a file in the config, or kFinalModel
  bool bit_identical = false;
  std::optional<double> max_difference;       ///< largest of all that were compared
  std::optional<double> max_within_baseline;  ///< of a file: between two trials of the baseline
};

struct RunData {
  nlohmann::json config;  ///< resolved: every default and preset written out
  std::string config_sha256;
  JobFacts job;                ///< of its config
  nlohmann::json environment;  ///< cpu, kernel, allocator, torch, memduel, fingerprint, …
  std::vector<TrialData> trials;
  std::vector<ArtifactDifference> artifact_differences;
  std::vector<Note> limitations;
  std::vector<Note> warnings;
};

}  // namespace memduel
