#include "profilers/profile/agreement/agreement_reasons.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/text.h"
#include "profilers/profile/agreement/agreement_bounds.h"
#include "profilers/profile/questions/named_side.h"

namespace memduel {
namespace {

constexpr const char* kAllocateThemselves = " and the libraries that it needs allocate themselves";

/// Of a standard normal, two-sided: what is printed. k999 is what counts as chance.
constexpr double k95 = 1.959964;
/// Of jemalloc's size classes: four to each doubling, 16 bytes apart where that is more.
constexpr double kMostClassShare = 0.25;
constexpr double kMostClassBytes = 15;

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

/// Of the mean bytes that as many sampled trials of these blocks would give; the blocks of a site
/// count as equal.
double expected_variance(const TracerSide& exact, DifferenceKind kind, double interval,
                         std::size_t sampled_trials) {
  double variance = 0;
  for (const std::vector<Profile>& trial : exact.trials) {
    for (const Profile& profile : trial) {
      for (const auto& entry : sites_for(profile, kind, Heap::malloc)) {
        const Estimate& blocks = entry.second;
        if (blocks.count <= 0 || blocks.bytes <= 0) continue;
        const double mean = blocks.bytes / blocks.count;
        variance += blocks.bytes * mean / std::expm1(mean / interval);
      }
    }
  }
  return variance / static_cast<double>(exact.trials.size() * sampled_trials);
}

/// Both sides of one question.
struct Pair {
  const TracerSide& reference;
  const SideAmount& expected;
  const TracerSide& other;
  const SideAmount& found;
  DifferenceKind kind;

  [[nodiscard]] double difference() const { return found.mean.bytes - expected.mean.bytes; }
};

using Reasons = std::vector<AgreementReason>;

void add_sampling(Reasons& reasons, const Pair& pair) {
  double variance = 0;
  double expected = 0;
  std::string how;
  const auto add = [&](const TracerSide& side, const SideAmount& amount, const TracerSide& against,
                       const SideAmount& against_amount) {
    if (!amount.sampled) return;
    const double interval = side.facts.interval_bytes.value_or(0);
    variance += amount.mean.variance;
    if (!against_amount.sampled && against.facts.counts_blocks && interval > 0)
      expected = expected_variance(against, pair.kind, interval, side.trials.size());
    how += fmt::format("{}{} takes one sample per {}", how.empty() ? "" : ", ", side.tracer,
                       format_bytes(interval));
  };
  add(pair.other, pair.found, pair.reference, pair.expected);
  add(pair.reference, pair.expected, pair.other, pair.found);
  if (how.empty()) return;
  const double printed = k95 * std::sqrt(variance);
  const double bound = k999 * std::sqrt(std::max(variance, expected));
  const bool inside = std::abs(pair.difference()) <= printed;
  reasons.push_back({"sampling",
                     fmt::format("{}: ± {} at 95 %, and the difference is {} that interval", how,
                                 format_bytes(printed), inside ? "inside" : "outside"),
                     -bound, bound});
}

/// What size classes can add to requested bytes; absent where nobody counted the blocks.
std::optional<double> class_surplus(const SideAmount& requested, bool counted) {
  if (!counted) return std::nullopt;
  return kMostClassShare * requested.mean.bytes + kMostClassBytes * requested.mean.count;
}

void add_counted_bytes(Reasons& reasons, const Pair& pair) {
  const CountedBytes a = pair.reference.facts.counted;
  const CountedBytes b = pair.other.facts.counted;
  if (a == b) return;
  if (a == CountedBytes::pages || b == CountedBytes::pages) {
    const bool more = b == CountedBytes::pages;
    reasons.push_back({"mappings",
                       fmt::format("{} counts every mapping, by whole pages, and no blocks",
                                   more ? pair.other.tracer : pair.reference.tracer),
                       more ? std::optional(0.0) : std::nullopt,
                       more ? std::nullopt : std::optional(0.0)});
    return;
  }
  const bool more = b == CountedBytes::size_classes;
  const TracerSide& requested = more ? pair.reference : pair.other;
  const std::optional<double> most =
      class_surplus(more ? pair.expected : pair.found, requested.facts.counts_blocks);
  const auto less = most ? std::optional(-*most) : std::nullopt;
  reasons.push_back(
      {"usable_bytes",
       fmt::format("{} counts what its size classes set aside, up to a quarter and 15 bytes a "
                   "block more than was asked for",
                   more ? pair.other.tracer : pair.reference.tracer),
       more ? std::optional(0.0) : less, more ? most : std::optional(0.0)});
}

/// What a sampler's estimate may stand for.
double at_most(const Estimate& amount) {
  return amount.bytes + k999 * std::sqrt(amount.variance);
}

/// What only one side has, at most: it makes the other smaller.
void add_seen_by_one(Reasons& reasons, const char* code, const std::string& text, double bytes,
                     bool by_reference) {
  if (bytes <= 0) return;
  reasons.push_back({code, fmt::format("{}: {} at most", text, format_bytes(bytes)),
                     by_reference ? -bytes : 0, by_reference ? 0 : bytes});
}

void add_unseen(Reasons& reasons, const Pair& pair) {
  const TracerFacts& a = pair.reference.facts;
  const TracerFacts& b = pair.other.facts;
  if (a.sees_loading != b.sees_loading)
    add_seen_by_one(reasons, "before_main",
                    fmt::format("{} does not see what libraries allocate while they are loaded",
                                a.sees_loading ? pair.other.tracer : pair.reference.tracer),
                    at_most(amount_where(a.sees_loading ? pair.reference : pair.other, pair.kind,
                                         is_while_loading)),
                    a.sees_loading);
  if (pair.kind == DifferenceKind::live && a.frees_pools != b.frees_pools)
    add_seen_by_one(
        reasons, "pools_at_exit",
        fmt::format("{} has libc and libstdc++ free their own pools at exit",
                    a.frees_pools ? pair.reference.tracer : pair.other.tracer),
        at_most(amount_where(a.frees_pools ? pair.other : pair.reference, pair.kind, is_in_pool)),
        b.frees_pools);
  add_seen_by_one(reasons, "brought_by_tracer", pair.other.tracer + kAllocateThemselves,
                  brought_bytes(pair.other, pair.reference, pair.kind), false);
  add_seen_by_one(reasons, "brought_by_tracer", pair.reference.tracer + kAllocateThemselves,
                  brought_bytes(pair.reference, pair.other, pair.kind), true);
  for (const TracerSide* side : {&pair.reference, &pair.other}) {
    const bool other = side == &pair.other;
    const auto towards_less = other ? std::nullopt : std::optional(0.0);
    const auto towards_more = other ? std::optional(0.0) : std::nullopt;
    if (side->facts.attached)
      reasons.push_back(
          {"attached",
           fmt::format("{} was attached to the running program and knows nothing from before",
                       side->tracer),
           towards_less, towards_more});
    if (side->facts.lost)
      reasons.push_back({"lost_events", fmt::format("events of {} were lost", side->tracer),
                         std::nullopt, std::nullopt});
  }
}

void add_other_moment(Reasons& reasons, const Pair& pair) {
  for (const TracerSide* side : {&pair.reference, &pair.other}) {
    const TracerFacts& facts = side->facts;
    const bool other = side == &pair.other;
    const double bytes = pair.expected.mean.bytes;
    if (pair.kind == DifferenceKind::peak && !facts.peak_marked) {
      reasons.push_back(
          {"no_peak_marked",
           fmt::format("{} marks a peak only where memory falls: its largest snapshot with stacks "
                       "stands for it",
                       side->tracer),
           other ? std::nullopt : std::optional(0.0), other ? std::optional(0.0) : std::nullopt});
    } else if (pair.kind == DifferenceKind::peak && facts.peak_inaccuracy > 0) {
      const double share = facts.peak_inaccuracy;
      reasons.push_back({"peak_within",
                         fmt::format("{} notes a new peak only where it exceeds the last by {:g} %",
                                     side->tracer, 100 * share),
                         other ? -share * bytes : 0, other ? 0 : share * bytes});
    }
    if (pair.kind != DifferenceKind::peak && facts.apart_from_end)
      reasons.push_back({"not_the_end",
                         fmt::format("of {} this is {}, not the end", side->tracer, facts.moment),
                         std::nullopt, std::nullopt});
  }
  if (pair.kind == DifferenceKind::live &&
      pair.reference.facts.stops_before_destructors != pair.other.facts.stops_before_destructors) {
    const bool early = pair.other.facts.stops_before_destructors;
    const TracerSide& stopped = early ? pair.other : pair.reference;
    add_seen_by_one(
        reasons, "freed_after_stop",
        fmt::format("{} stops before the destructors of libraries run, and {} saw freed what it "
                    "has live",
                    stopped.tracer, (early ? pair.reference : pair.other).tracer),
        freed_after_stop(stopped, early ? pair.reference : pair.other), !early);
  }
}

void add_trials(Reasons& reasons, const Pair& pair) {
  for (const auto& [side, amount] :
       {std::pair(&pair.reference, &pair.expected), std::pair(&pair.other, &pair.found)}) {
    const double apart = amount->most - amount->least;
    if (side->trials.size() < 2 || apart <= 0 || amount->sampled) continue;
    reasons.push_back({"trials_differ",
                       fmt::format("the {} trials of {} are up to {} apart themselves",
                                   side->trials.size(), side->tracer, format_bytes(apart)),
                       -apart, apart});
  }
}

}  // namespace

std::optional<SideAmount> amount_of(const TracerSide& side, DifferenceKind kind) {
  if (side.trials.empty() || !knows(side.facts, kind)) return std::nullopt;
  SideAmount amount;
  amount.sampled = side.facts.interval_bytes.has_value();
  const auto trials = static_cast<double>(side.trials.size());
  bool first = true;
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
    amount.least = first ? total.bytes : std::min(amount.least, total.bytes);
    amount.most = first ? total.bytes : std::max(amount.most, total.bytes);
    first = false;
  }
  const Profile& profile = side.trials.front().front();
  if (kind == DifferenceKind::allocated && profile.counters) amount.sampled = false;
  return amount;
}

AgreementReason why_unknown(const TracerSide& side, DifferenceKind kind) {
  const auto because = [&](const char* code, const char* text) {
    return AgreementReason{code, fmt::format("{} {}", side.tracer, text), {}, {}};
  };
  if (kind == DifferenceKind::peak)
    return because("no_peak", "dumps what is live at one moment: it has no peak");
  if (kind == DifferenceKind::live) return because("no_live", "does not say what stayed");
  if (!side.facts.counts_blocks)
    return because("no_allocated", "notes what is live, not what was allocated");
  return because("no_allocated", "keeps no record of what was freed");
}

std::vector<AgreementReason> reasons_for(const TracerSide& reference, const SideAmount& expected,
                                         const TracerSide& other, const SideAmount& found,
                                         DifferenceKind kind) {
  const Pair pair{reference, expected, other, found, kind};
  Reasons reasons;
  add_sampling(reasons, pair);
  add_counted_bytes(reasons, pair);
  add_unseen(reasons, pair);
  add_other_moment(reasons, pair);
  add_trials(reasons, pair);
  return reasons;
}

}  // namespace memduel
