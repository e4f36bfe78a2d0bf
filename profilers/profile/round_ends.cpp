#include <algorithm>
#include <map>
#include <utility>

#include "names/stack_names.h"
#include "profile/difference.h"
#include "profile/function_names.h"
#include "util/text.h"

namespace memduel {
namespace {

struct LiveAmounts {
  std::vector<double> bytes;
  std::map<std::uint32_t, double> last_by_phase;  ///< at the last end
  /// By profile stack, with its lines, at the first end and the last.
  std::map<std::uint32_t, std::pair<double, double>> first_and_last;
};

std::vector<int> ended_rounds(const Profile& profile) {
  std::vector<int> rounds;
  for (const RetentionCell& cell : profile.retention) rounds.push_back(cell.end);
  std::ranges::sort(rounds);
  rounds.erase(std::unique(rounds.begin(), rounds.end()), rounds.end());
  return rounds;
}

std::string main_phase(const Profile& profile, const LiveAmounts& amounts) {
  const auto most = std::ranges::max_element(
      amounts.last_by_phase, [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == amounts.last_by_phase.end() ? "" : profile.phases[most->first];
}

/// The line that has most more at the last end than at the first, where the stack grew.
SourceLine grown_line(const StackNames& stacks, const LiveAmounts& amounts,
                      std::uint32_t function) {
  LineAmounts first;
  LineAmounts last;
  for (const auto& [stack, bytes] : amounts.first_and_last) {
    const SourceLine line = stacks.line_of(stack, function);
    if (line.file.empty()) continue;
    first[line] += bytes.first;
    last[line] += bytes.second;
  }
  return changed_line(first, last);
}

}  // namespace

LiveAtRoundEnds live_at_round_ends(const Profile& profile, const SourceRoots& roots) {
  LiveAtRoundEnds live;
  live.rounds = ended_rounds(profile);
  FunctionNames names;
  const StackNames stacks(profile, names);
  std::map<NamedStack, LiveAmounts> by_stack;
  std::map<std::uint32_t, LiveAmounts*> by_site;
  for (const RetentionCell& cell : profile.retention) {
    const auto at = std::ranges::lower_bound(live.rounds, cell.end);
    const auto column = static_cast<std::size_t>(at - live.rounds.begin());
    for (const auto& [number, amount] : cell.sites) {
      const AllocationSite& site = profile.sites[number];
      LiveAmounts*& amounts = by_site[number];
      if (amounts == nullptr) amounts = &by_stack[stacks.of(site.stack)];
      amounts->bytes.resize(live.rounds.size());
      amounts->bytes[column] += amount.bytes;
      auto& [first, last] = amounts->first_and_last[site.stack];
      if (column == 0 && live.rounds.size() > 1) first += amount.bytes;
      if (column + 1 == live.rounds.size()) last += amount.bytes;
      if (column + 1 == live.rounds.size()) amounts->last_by_phase[site.phase] += amount.bytes;
    }
  }
  for (auto& [stack, amounts] : by_stack) {
    LiveStack row;
    for (const std::uint32_t function : stack)
      row.stack.push_back(valid_utf8(names.name(function)));
    row.phase = valid_utf8(main_phase(profile, amounts));
    const SourceLine line = own_line(frames_with_locations(row.stack), [&](std::size_t at) {
      return grown_line(stacks, amounts, stack[at]);
    });
    row.location = valid_utf8(location_text(line, roots));
    row.bytes = std::move(amounts.bytes);
    live.stacks.push_back(std::move(row));
  }
  return live;
}

}  // namespace memduel
