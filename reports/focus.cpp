#include "focus.h"

#include <algorithm>

#include "sections/sections.h"

namespace memduel {
namespace {

bool improved_in_memory_and_time(const Results& results, const std::string& candidate) {
  const Comparison* first = first_gate_row(results);
  const Comparison* memory =
      first == nullptr ? nullptr : results.row(candidate, first->role, first->metric);
  const Comparison* time = time_row(results, candidate);
  return memory != nullptr && memory->verdict == Verdict::improved && time != nullptr &&
         time->verdict == Verdict::improved && !time->is_of_dead();
}

}  // namespace

std::string candidate_in_focus(const Results& results) {
  const auto failed = std::ranges::find_if(results.gates, &GateResult::fails);
  if (failed != results.gates.end()) return failed->candidate;
  const std::vector<std::string> ranked = ranked_candidates(results);
  if (ranked.empty()) return {};
  const Comparison* time = time_row(results, ranked.front());
  if (time == nullptr || time->verdict != Verdict::inconclusive) return ranked.front();
  const Comparison* fastest = nullptr;
  for (const std::string& candidate : ranked) {
    if (!improved_in_memory_and_time(results, candidate)) continue;
    const Comparison* own = time_row(results, candidate);
    if (fastest == nullptr || *own->candidate_median < *fastest->candidate_median) fastest = own;
  }
  return fastest == nullptr ? ranked.front() : fastest->candidate;
}

}  // namespace memduel
