#include "experiment/run/ledger.h"

#include <algorithm>

#include "base/error.h"
#include "base/metric_catalogue.h"

namespace memduel {

Ledger::Ledger(const RunData& run) {
  for (const TrialData& trial : run.trials) add(trial);
}

void Ledger::add(const TrialData& trial) {
  constexpr double kNanoseconds = 1e9;
  next_id_ = std::max(next_id_, trial.id + 1);
  seconds_ += static_cast<double>(trial.end_ns - trial.begin_ns) / kNanoseconds;
  ++trials_;
  if (trial.kind == TrialKind::profile) {
    ++profiles_[{trial.arm, trial.tracer}];
    return;
  }
  last_block_ = std::max(last_block_, trial.block);
  arms_done_[trial.block].insert(trial.arm);
  if (trial.kind == TrialKind::warmup) ++warmups_[trial.arm];
  if (trial.harness_fault || trial.status == TrialStatus::dropped) dropped_.insert(trial.block);
  count_allocations(trial);
  note_peaks(trial);
  auto& outcome = outcomes_[trial.arm];
  if (trial.status == TrialStatus::ok && !trial.harness_fault) {
    ++(trial.kind == TrialKind::warmup ? outcome.ok_warmups : outcome.ok);
  } else if (trial.status != TrialStatus::dropped && !trial.harness_fault) {
    ++outcome.failed;
    outcome.failure = trial.failure;
    outcome.file_failed = std::ranges::any_of(trial.roles, [](const RoleData& role) {
      return role.exit_status == static_cast<int>(ExitCode::io);
    });
  }
}

void Ledger::count_allocations(const TrialData& trial) {
  for (const RoleData& role : trial.roles)
    if (const auto count = role.metrics.value(kAllocationCount))
      allocations_ = std::max(allocations_.value_or(0), *count);
}

void Ledger::note_peaks(const TrialData& trial) {
  if (!trial.counts()) return;
  for (const RoleData& role : trial.roles) {
    auto peak = role.metrics.value(kPeakRss);
    if (const auto largest = role.metrics.value(kPeakLargestProcess); largest && role.role != kTree)
      peak = largest;
    if (peak) peaks_[trial.arm][role.role].push_back(*peak);
  }
}

std::map<std::string, double> Ledger::peaks(const std::string& arm) const {
  std::map<std::string, double> least;
  const auto found = peaks_.find(arm);
  if (found == peaks_.end()) return least;
  for (const auto& [role, peaks] : found->second) least[role] = std::ranges::min(peaks);
  return least;
}

std::vector<double> Ledger::job_peaks(const std::string& arm) const {
  const auto found = peaks_.find(arm);
  if (found == peaks_.end()) return {};
  const auto tree = found->second.find(kTree);
  return tree == found->second.end() ? std::vector<double>() : tree->second;
}

void Ledger::add_overhead(double seconds) {
  ++overheads_;
  overhead_seconds_ += std::max(0.0, seconds);
}

bool Ledger::has(int block, const std::string& arm) const {
  const auto found = arms_done_.find(block);
  return found != arms_done_.end() && found->second.contains(arm);
}

int Ledger::warmups(const std::string& arm) const {
  const auto found = warmups_.find(arm);
  return found == warmups_.end() ? 0 : found->second;
}

int Ledger::profiles(const std::string& arm, const std::string& tracer) const {
  const auto found = profiles_.find({arm, tracer});
  return found == profiles_.end() ? 0 : found->second;
}

Ledger::Outcome Ledger::outcome(const std::string& arm) const {
  const auto found = outcomes_.find(arm);
  return found == outcomes_.end() ? Outcome{} : found->second;
}

std::optional<double> Ledger::trial_seconds() const {
  if (trials_ == 0) return std::nullopt;
  return seconds_ / trials_ + (overheads_ == 0 ? 0 : overhead_seconds_ / overheads_);
}

}  // namespace memduel
