#include "profilers/profile/agreement/tracer_agreement.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "profilers/profile/agreement/stack_agreement.h"
#include "profilers/profile/agreement/tracer_side.h"

namespace memduel {
namespace {

constexpr std::array kQuestions = {DifferenceKind::peak, DifferenceKind::allocated,
                                   DifferenceKind::live};

double size_of(const Profile& profile) {
  double size = profile.peak.total.bytes;
  for (const AllocationSite& site : profile.sites)
    if (site.heap == Heap::malloc) size += site.allocated.bytes + site.live.bytes;
  return size;
}

void keep_largest(std::vector<Profile>& images) {
  const auto largest = std::ranges::max_element(
      images, [](const Profile& a, const Profile& b) { return size_of(a) < size_of(b); });
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
    facts.has_live = facts.has_live && other.has_live;
    if (other.live_bytes) facts.live_bytes = other.live_bytes;
    facts.cut_off_live = std::max(facts.cut_off_live, other.cut_off_live);
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
  std::vector<std::string> traits = traits_of(side.facts);
  if (view.mapping_peak_bytes)
    traits.push_back(
        fmt::format("counts mappings apart, {} at most", format_bytes(*view.mapping_peak_bytes)));
  view.besides = fmt::format("{}", fmt::join(traits, "; "));
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

AgreementAmount amount_beside(const TracerSide& reference, const TracerSide& other,
                              DifferenceKind kind) {
  const std::optional<SideAmount> expected = amount_of(reference, kind);
  const std::optional<SideAmount> found = amount_of(other, kind);
  AgreementAmount row = own_amount(found, kind);
  if (found && expected) row.difference_bytes = found->mean.bytes - expected->mean.bytes;
  return row;
}

/// Whether the side has stacks that answer the question.
bool has_stacks(const TracerSide& side, DifferenceKind kind) {
  const bool without = kind == DifferenceKind::live && !side.facts.has_live;
  return !without && amount_of(side, kind);
}

/// The first question that the stacks of both answer.
std::optional<DifferenceKind> common_kind(const TracerSide& a, const TracerSide& b) {
  for (const DifferenceKind kind : kQuestions)
    if (has_stacks(a, kind) && has_stacks(b, kind)) return kind;
  return std::nullopt;
}

TracerView reference_view(const ViewedSide& reference) {
  TracerView view = view_of(reference);
  for (const DifferenceKind kind : kQuestions) {
    view.amounts.push_back(own_amount(amount_of(reference.side, kind), kind));
  }
  return view;
}

/// Stacks that are there get one tracer's cells more.
void add_cells(std::vector<AgreementStack>& stacks, std::vector<AgreementStack> more) {
  for (AgreementStack& one : more) {
    const auto known = std::ranges::find_if(stacks, [&](const AgreementStack& stack) {
      return stack.kind == one.kind && stack.stack == one.stack;
    });
    if (known == stacks.end())
      stacks.push_back(std::move(one));
    else
      known->cells.insert(known->cells.end(), one.cells.begin(), one.cells.end());
  }
}

}  // namespace

std::optional<TracerAgreement> tracer_agreement(std::vector<TracedTrials> traced) {
  std::vector<ViewedSide> sides;
  for (TracedTrials& one : traced)
    if (auto side = side_of(std::move(one))) sides.push_back(std::move(*side));
  if (sides.size() < 2) return std::nullopt;
  const auto recorder = std::ranges::find_if(
      sides, [](const ViewedSide& one) { return one.side.tracer == "recorder"; });
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
      StackAgreement found = stack_agreement(reference, other, *kind);
      view.stacks = std::move(found.summary);
      add_cells(agreement.stacks, std::move(found.stacks));
    }
    agreement.tracers.push_back(std::move(view));
  }
  // peak, live, allocated
  std::ranges::stable_sort(agreement.stacks, [](const AgreementStack& a, const AgreementStack& b) {
    return a.kind != b.kind ? a.kind > b.kind : a.bytes > b.bytes;
  });
  return agreement;
}

}  // namespace memduel
