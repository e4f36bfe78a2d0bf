#include "profilers/profile/tracer_agreement.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "base/text.h"
#include "profilers/profile/agreement_reasons.h"
#include "profilers/profile/named_side.h"

namespace memduel {
namespace {

constexpr std::size_t kTopStacks = 10;
constexpr double kCloseShare = 0.005;
constexpr double kSameStackShare = 0.01;
constexpr std::array kQuestions = {DifferenceKind::peak, DifferenceKind::allocated,
                                   DifferenceKind::live};

double size_of(const Profile& profile) {
  double size = profile.peak.total.bytes;
  for (const AllocationSite& site : profile.sites)
    if (site.heap == Heap::malloc) size += site.allocated.bytes + site.live.bytes;
  return size;
}

void keep_largest(std::vector<Profile>& images) {
  const auto largest =
      std::max_element(images.begin(), images.end(),
                       [](const Profile& a, const Profile& b) { return size_of(a) < size_of(b); });
  std::iter_swap(images.begin(), largest);
  images.resize(1);
}

/// A side, and of how many images it was chosen.
struct ViewedSide {
  TracerSide side;
  int images = 0;
};

TracerFacts common_facts(const ProfileSide& trials) {
  TracerFacts facts = facts_of(trials.front().front());
  for (const std::vector<Profile>& trial : trials) {
    const TracerFacts other = facts_of(trial.front());
    facts.lost = facts.lost || other.lost;
    facts.peak_marked = facts.peak_marked && other.peak_marked;
    facts.has_allocated = facts.has_allocated && other.has_allocated;
    facts.cut_off_live = std::max(facts.cut_off_live, other.cut_off_live);
    facts.cut_off_allocated = std::max(facts.cut_off_allocated, other.cut_off_allocated);
  }
  return facts;
}

std::optional<ViewedSide> side_of(TracedTrials traced) {
  ViewedSide viewed;
  viewed.side.tracer = std::move(traced.tracer);
  for (std::vector<Profile>& images : traced.profiles) {
    std::erase_if(images, [](const Profile& one) { return one.unit != ProfileUnit::bytes; });
    if (images.empty()) continue;
    viewed.images = std::max(viewed.images, static_cast<int>(images.size()));
    keep_largest(images);
    viewed.side.trials.push_back(std::move(images));
  }
  if (viewed.side.trials.empty()) return std::nullopt;
  viewed.side.facts = common_facts(viewed.side.trials);
  return viewed;
}

/// What is not a bound on its own: where mappings are, whose allocator it was.
std::string besides(const TracerSide& side, std::optional<double> mappings) {
  std::string text = side.facts.counted == CountedBytes::pages ? "mappings counted"
                     : mappings ? fmt::format("mappings apart, {} at most", format_bytes(*mappings))
                                : "mappings not counted";
  if (!side.facts.allocator.empty())
    text += fmt::format("; {} in place of the program's own", side.facts.allocator);
  return text;
}

std::optional<double> mapping_peak(const TracerSide& side) {
  const Profile& profile = side.trials.front().front();
  if (!profile.counters) return std::nullopt;
  return static_cast<double>(profile.counters->mapping_peak_bytes);
}

TracerView view_of(const ViewedSide& viewed) {
  const TracerSide& side = viewed.side;
  TracerView view;
  view.tracer = side.tracer;
  const auto& info = side.trials.front().front().info;
  const auto tool = info.find("tracer");
  view.tool = tool == info.end() ? side.facts.tool : tool->second;
  view.counts = counting_of(side.facts);
  view.mapping_peak_bytes = mapping_peak(side);
  view.besides = besides(side, view.mapping_peak_bytes);
  view.trials = static_cast<int>(side.trials.size());
  view.images = viewed.images;
  view.interval_bytes = side.facts.interval_bytes;
  return view;
}

AgreementAmount own_amount(const std::optional<SideAmount>& amount, DifferenceKind kind) {
  AgreementAmount row;
  row.kind = to_string(kind);
  if (!amount) return row;
  row.bytes = amount->mean.bytes;
  if (amount->sampled) row.half_width_bytes = amount->mean.half_width();
  return row;
}

AgreementOutcome outcome_of(double difference, double reference,
                            const std::vector<AgreementReason>& reasons) {
  if (std::abs(difference) < 0.5) return AgreementOutcome::same;
  double low = -kCloseShare * reference;
  double high = kCloseShare * reference;
  bool unbounded_below = false;
  bool unbounded_above = false;
  for (const AgreementReason& reason : reasons) {
    low += reason.low_bytes.value_or(0);
    high += reason.high_bytes.value_or(0);
    unbounded_below = unbounded_below || !reason.low_bytes;
    unbounded_above = unbounded_above || !reason.high_bytes;
  }
  if (low <= difference && difference <= high)
    return reasons.empty() ? AgreementOutcome::close : AgreementOutcome::explained;
  const bool possible = difference < 0 ? unbounded_below : unbounded_above;
  return possible ? AgreementOutcome::possible : AgreementOutcome::unexplained;
}

AgreementAmount amount_beside(const TracerSide& reference, const TracerSide& other,
                              DifferenceKind kind) {
  const std::optional<SideAmount> expected = amount_of(reference, kind);
  const std::optional<SideAmount> found = amount_of(other, kind);
  AgreementAmount row = own_amount(found, kind);
  if (!found || !expected) {
    row.reasons = {why_unknown(found ? reference : other, kind)};
    return row;
  }
  row.difference_bytes = found->mean.bytes - expected->mean.bytes;
  std::vector<AgreementReason> reasons = reasons_for(reference, *expected, other, *found, kind);
  row.outcome = outcome_of(*row.difference_bytes, expected->mean.bytes, reasons);
  if (row.outcome != AgreementOutcome::same) row.reasons = std::move(reasons);
  return row;
}

/// The first question to which both know an answer.
std::optional<DifferenceKind> common_kind(const TracerSide& a, const TracerSide& b) {
  for (const DifferenceKind kind : kQuestions)
    if (amount_of(a, kind) && amount_of(b, kind)) return kind;
  return std::nullopt;
}

/// A stack of the reference: whole, and as far as the other tracer keeps it.
struct TopStack {
  NamedStack whole;
  NamedStack cut;
  double bytes = 0;
  double blocks = 0;
  bool while_loading = false;
};

/// The ten largest, and how far each is seen within `depth` frames.
std::vector<TopStack> top_stacks(const TracerSide& side, DifferenceKind kind, FunctionNames& names,
                                 std::size_t depth) {
  std::map<NamedStack, TopStack> by_stack;
  for (const std::vector<Profile>& trial : side.trials) {
    const Profile& profile = trial.front();
    const StackNames stacks(profile, names);
    for (const auto& [number, amount] : sites_for(profile, kind, Heap::malloc)) {
      const std::uint32_t stack = profile.sites[number].stack;
      TopStack& top = by_stack[stacks.of(stack)];
      top.cut = stacks.of(stack, depth);
      top.bytes += amount.bytes / static_cast<double>(side.trials.size());
      top.blocks += amount.count / static_cast<double>(side.trials.size());
      top.while_loading = is_while_loading(profile, stack);
    }
  }
  std::vector<TopStack> largest;
  for (auto& [whole, top] : by_stack) {
    top.whole = whole;
    largest.push_back(std::move(top));
  }
  std::stable_sort(largest.begin(), largest.end(),
                   [](const TopStack& a, const TopStack& b) { return a.bytes > b.bytes; });
  if (largest.size() > kTopStacks) largest.resize(kTopStacks);
  return largest;
}

/// Why a stack that the reference has is not there, as far as a fact says so.
AgreementReason why_missing(const TopStack& stack, const TracerSide& other, double total,
                            DifferenceKind kind) {
  const TracerFacts& facts = other.facts;
  const double cut_off =
      kind == DifferenceKind::live ? facts.cut_off_live : facts.cut_off_allocated;
  if (stack.while_loading && !facts.sees_loading)
    return {"before_main", "allocated while libraries were loaded, which it does not see", {}, {}};
  if (stack.bytes < facts.threshold * total)
    return {"threshold",
            fmt::format("below its threshold of {:g} % of all bytes", 100 * facts.threshold),
            {},
            {}};
  if (cut_off > 0)
    return {"truncated",
            fmt::format("its dump is cut off: stacks of {} are not in it", format_bytes(cut_off)),
            {},
            {}};
  if (facts.interval_bytes) {
    const double mean = stack.blocks > 0 ? stack.bytes / stack.blocks : stack.bytes;
    const double per_block = -std::expm1(-mean / *facts.interval_bytes);
    const double none = std::exp(std::max(stack.blocks, 1.0) * std::log1p(-per_block));
    if (none > 0.001)
      return {"sampling",
              fmt::format("no sample of it, which happens in {:.1f} % of trials", 100 * none),
              {},
              {}};
  }
  if (kind == DifferenceKind::live && facts.frees_pools)
    return {"pools_at_exit", "libc and libstdc++ freed it at exit", {}, {}};
  return {"not_found", "no stack of it has these functions", {}, {}};
}

/// "2 of them below its threshold of 1 % of all bytes", one line per reason.
std::vector<AgreementReason> counted_reasons(const std::vector<AgreementReason>& each) {
  std::vector<AgreementReason> counted;
  std::map<std::string, int> times;
  for (const AgreementReason& reason : each) {
    if (times[reason.code]++ == 0) counted.push_back(reason);
  }
  for (AgreementReason& reason : counted)
    reason.text = fmt::format("{} not found: {}", times[reason.code], reason.text);
  return counted;
}

/// One tracer's stacks beside the reference's.
class StackComparison {
 public:
  StackComparison(const TracerSide& reference, const TracerSide& other, DifferenceKind kind)
      : other_(other), kind_(kind) {
    const std::size_t depth = other.facts.most_frames.value_or(kWholeStack);
    tops_ = top_stacks(reference, kind, names_, depth);
    const NamedSide mine = named_side(reference.trials, kind, Heap::malloc, names_, depth);
    const NamedSide theirs = named_side(other.trials, kind, Heap::malloc, names_,
                                        reference.facts.most_frames.value_or(kWholeStack));
    matched_ = match_stacks(mine, theirs);
    for (const MatchedStack& row : matched_) {
      total_ += row.baseline.total.bytes;
      for (const NamedStack& stack : row.of_baseline) row_of_[stack] = &row;
    }
  }

  [[nodiscard]] AgreementStacks summary() const {
    AgreementStacks stacks;
    stacks.kind = to_string(kind_);
    stacks.of = static_cast<int>(tops_.size());
    std::vector<AgreementReason> missing;
    for (const TopStack& top : tops_) {
      const MatchedStack* row = found(top);
      if (row == nullptr) {
        missing.push_back(why_missing(top, other_, total_, kind_));
        continue;
      }
      ++stacks.found;
      const double difference = row->candidate.total.bytes - row->baseline.total.bytes;
      const double chance =
          std::hypot(row->candidate.total.half_width(), row->baseline.total.half_width());
      if (std::abs(difference) <= std::max(kSameStackShare * row->baseline.total.bytes, chance))
        ++stacks.same;
    }
    stacks.reasons = counted_reasons(missing);
    return stacks;
  }

  /// Adds this tracer's cells to the reference's stacks of the same question.
  void add_cells(std::vector<AgreementStack>& stacks) const {
    const std::string kind = to_string(kind_);
    for (const TopStack& top : tops_) {
      std::vector<std::string> functions;
      for (const std::uint32_t function : top.whole) functions.push_back(names_.name(function));
      auto at = std::find_if(stacks.begin(), stacks.end(), [&](const AgreementStack& one) {
        return one.kind == kind && one.stack == functions;
      });
      if (at == stacks.end())
        at = stacks.insert(stacks.end(), {kind, std::move(functions), top.bytes, {}});
      if (const MatchedStack* row = found(top))
        at->cells.push_back({other_.tracer, row->candidate.total.bytes, row->baseline.total.bytes});
    }
  }

 private:
  [[nodiscard]] const MatchedStack* found(const TopStack& top) const {
    const auto row = row_of_.find(top.cut);
    return row == row_of_.end() || !row->second->in_candidate ? nullptr : row->second;
  }

  const TracerSide& other_;
  DifferenceKind kind_;
  FunctionNames names_;
  std::vector<TopStack> tops_;
  std::vector<MatchedStack> matched_;
  std::map<NamedStack, const MatchedStack*> row_of_;
  double total_ = 0;
};

TracerView reference_view(const ViewedSide& reference) {
  TracerView view = view_of(reference);
  for (const DifferenceKind kind : kQuestions) {
    const std::optional<SideAmount> amount = amount_of(reference.side, kind);
    view.amounts.push_back(own_amount(amount, kind));
    if (amount) {
      view.amounts.back().outcome = AgreementOutcome::reference;
    } else {
      view.amounts.back().reasons = {why_unknown(reference.side, kind)};
    }
  }
  return view;
}

}  // namespace

std::optional<TracerAgreement> tracer_agreement(std::vector<TracedTrials> traced) {
  std::vector<ViewedSide> sides;
  for (TracedTrials& one : traced)
    if (auto side = side_of(std::move(one))) sides.push_back(std::move(*side));
  if (sides.size() < 2) return std::nullopt;
  const auto recorder = std::find_if(sides.begin(), sides.end(), [](const ViewedSide& one) {
    return one.side.tracer == "recorder";
  });
  if (recorder != sides.end()) std::rotate(sides.begin(), recorder, std::next(recorder));
  const TracerSide& reference = sides.front().side;
  TracerAgreement agreement;
  agreement.reference = reference.tracer;
  agreement.tracers.push_back(reference_view(sides.front()));
  for (std::size_t i = 1; i < sides.size(); ++i) {
    const TracerSide& other = sides[i].side;
    TracerView view = view_of(sides[i]);
    for (const DifferenceKind kind : kQuestions)
      view.amounts.push_back(amount_beside(reference, other, kind));
    if (const auto kind = common_kind(reference, other)) {
      const StackComparison comparison(reference, other, *kind);
      view.stacks = comparison.summary();
      comparison.add_cells(agreement.stacks);
    }
    agreement.tracers.push_back(std::move(view));
  }
  std::stable_sort(agreement.stacks.begin(), agreement.stacks.end(),
                   [](const AgreementStack& a, const AgreementStack& b) {
                     return a.kind != b.kind ? a.kind == "peak" : a.bytes > b.bytes;
                   });
  return agreement;
}

}  // namespace memduel
