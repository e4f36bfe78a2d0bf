#include "profilers/profile/agreement/tracer_side.h"

#include "profilers/profile/questions/named_side.h"

namespace memduel {
namespace {

bool knows(const TracerFacts& facts, DifferenceKind kind) {
  switch (kind) {
    case DifferenceKind::peak:
      return facts.has_peak;
    case DifferenceKind::live:
      return facts.has_live || facts.live_bytes;
    case DifferenceKind::allocated:
    case DifferenceKind::allocations:
      return facts.has_allocated;
    case DifferenceKind::retained:
    case DifferenceKind::resident:
      break;
  }
  return false;
}

Estimate total_in(const Profile& profile, DifferenceKind kind) {
  Estimate total;
  for (const auto& entry : sites_for(profile, kind, Heap::malloc)) total += entry.second;
  return total;
}

}  // namespace

std::optional<SideAmount> amount_of(const TracerSide& side, DifferenceKind kind) {
  if (side.trials.empty() || !knows(side.facts, kind)) return std::nullopt;
  SideAmount amount;
  amount.sampled = side.facts.interval_bytes.has_value();
  const auto trials = static_cast<double>(side.trials.size());
  for (const std::vector<Profile>& trial : side.trials) {
    Estimate total;
    for (const Profile& profile : trial) {
      const std::optional<double> without_stacks = facts_of(profile).live_bytes;
      // Beside its samples the recorder counts exactly what was asked for.
      if (kind == DifferenceKind::allocated && amount.sampled && profile.counters) {
        total += {static_cast<double>(profile.counters->allocated_bytes),
                  static_cast<double>(profile.counters->allocations), 0, 1};
      } else if (kind == DifferenceKind::live && without_stacks) {
        total.bytes += *without_stacks;
      } else {
        total += total_in(profile, kind);
      }
    }
    amount.mean += {total.bytes / trials, total.count / trials, total.variance / trials / trials,
                    total.samples};
  }
  const Profile& profile = side.trials.front().front();
  if (kind == DifferenceKind::allocated && profile.counters) amount.sampled = false;
  return amount;
}

}  // namespace memduel
