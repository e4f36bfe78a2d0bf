#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string_view>

#include "model/metric_catalogue.h"
#include "profile/function_names.h"
#include "profile/profile.h"
#include "reports/memory_tables.h"
#include "util/text.h"
#include "verdict/results.h"
#include "words.h"

namespace memduel {
namespace {

/// What a gate asks: ROLE.METRIC of a candidate.
struct Question {
  std::string candidate;
  std::string role;
  std::string metric;
};

std::vector<Question> questions_of(const Results& results) {
  if (results.is_alone()) return {{results.baseline, kTree, kPeakHeapAndMapped}};
  const auto failed = [](const GateResult& gate) { return gate.outcome == GateOutcome::failed; };
  const bool any = std::ranges::any_of(results.gates, failed);
  std::vector<Question> questions;
  for (const GateResult& gate : results.gates) {
    if (any && !failed(gate)) continue;
    questions.push_back({gate.candidate, gate.role, gate.metric});
  }
  const CandidateOrder order(results);
  std::ranges::stable_sort(questions, [&](const Question& a, const Question& b) {
    return order.rank(a.candidate) < order.rank(b.candidate);
  });
  return questions;
}

bool covers(const Results& results, const std::string& asked, const std::string& role) {
  return asked == "*" || is_about(results.job, asked, role);
}

bool is_end_state(const std::string& metric) {
  return metric == kEndHeap || metric == kEndMapped || metric == kEndHeapAndMapped;
}

/// The kind of difference that explains a metric; empty for time and quality.
std::string kind_for(const Question& question, const Results& results) {
  if (question.metric == kAllocationCount) return "allocations";
  if (question.metric == kAllocatedBytes) return "allocated";
  if (question.metric == kLiveAtEnd) return "live";
  if (is_end_state(question.metric)) return "retained";
  if (is_growth_metric(question.metric)) {
    const bool retains = std::ranges::any_of(results.difference_totals, [&](const auto& total) {
      return total.kind == "retained" && total.candidate == question.candidate &&
             covers(results, question.role, total.role);
    });
    return retains ? "retained" : "peak";
  }
  return metric_info(question.metric).unit == Unit::bytes ? "peak" : "";
}

/// Whether stacks of blocks explain the metric.
bool is_of_the_heap(const std::string& metric) {
  constexpr std::array<std::string_view, 6> kHeap = {
      kPeakHeap, kPeakMapped, kPeakHeapAndMapped, kAllocatedBytes, kAllocationCount, kLiveAtEnd};
  return is_growth_metric(metric) || is_end_state(metric) ||
         std::ranges::find(kHeap, metric) != kHeap.end();
}

double change_of(const DifferenceTotal& total) {
  return std::abs(total.candidate_bytes - total.baseline_bytes);
}

/// Own mappings are worth a table only where their sum differs: which function needs the next arena
/// of an allocator is chance.
bool mappings_matter(const DifferenceTotal& total) {
  const MetricInfo heap = metric_info(kPeakHeap);
  return change_of(total) >
         std::max(heap.absolute_margin, heap.relative_margin * total.baseline_bytes);
}

bool asks_heap(const std::string& metric) {
  return metric == kPeakHeap || metric == kEndHeap;
}

bool asks_mappings(const std::string& metric) {
  return metric == kPeakMapped || metric == kEndMapped;
}

/// Both heaps together say what each of them does, in one order.
bool says_more(const DifferenceTotal& total, const std::string& metric, const Results& results) {
  if (asks_heap(metric)) return total.heap == "malloc";
  if (asks_mappings(metric)) return total.heap == "mapped";
  const auto of = [&](std::string_view heap) {
    return std::ranges::find_if(results.difference_totals, [&](const DifferenceTotal& other) {
      return other.candidate == total.candidate && other.role == total.role &&
             other.kind == total.kind && other.heap == heap;
    });
  };
  const auto none = results.difference_totals.end();
  const bool has_both = of(to_name(Heap::both)) != none;
  const auto mappings = of("mapped");
  const bool differ = mappings != none && mappings_matter(*mappings);
  if (has_both && (differ || metric == kPeakHeapAndMapped))
    return total.heap == to_name(Heap::both);
  return total.heap == "malloc" || (!has_both && total.heap == "mapped" && differ);
}

/// The roles that changed most come first; of many a few are enough.
std::vector<const DifferenceTotal*> totals_for(const Question& question, const Results& results) {
  const std::string kind = kind_for(question, results);
  std::vector<const DifferenceTotal*> totals;
  for (const DifferenceTotal& total : results.difference_totals) {
    const bool asked = total.candidate == question.candidate && total.kind == kind &&
                       covers(results, question.role, total.role);
    if (asked && says_more(total, question.metric, results)) totals.push_back(&total);
  }
  std::ranges::stable_sort(
      totals, [](const auto* a, const auto* b) { return change_of(*a) > change_of(*b); });
  if (totals.size() > kMostRoles) totals.resize(kMostRoles);
  return totals;
}

std::string subject_of(const DifferenceTotal& total) {
  const std::string what = total.heap == "mapped"              ? ", its own mappings"
                           : total.heap == to_name(Heap::both) ? ", heap and mappings"
                                                               : "";
  if (total.kind == "peak") return total.role + what + " at its peak";
  if (total.kind == "live") return total.role + what + ", never freed";
  if (total.kind == "retained")
    return total.role + ", born in a round and live at the end of the last";
  return total.role + what + ", everything allocated";
}

DifferenceRow shown_row(const Difference& row) {
  DifferenceRow shown;
  shown.size = row.kind == "allocations" ? row.blocks : row.bytes;
  shown.half_width = row.half_width_bytes.value_or(0);
  shown.amount = amount_of(row.kind, shown.size, shown.half_width);
  shown.share = format_percent(row.share);
  shown.stack = row.stack;
  shown.phase = row.phase.value_or("");
  shown.location = row.location;
  shown.more = shown.size > 0;
  shown.function = "[no stack]";
  if (row.stack.empty()) return shown;
  const std::size_t at = telling_frame(row.stack);
  shown.function = short_name(row.stack[at]);
  shown.caller = short_name(telling_caller(row.stack));
  for (std::size_t i = at; i-- > 0;) shown.callers.push_back(short_name(row.stack[i]));
  return shown;
}

std::string remark_on(const DifferenceTotal& total) {
  const std::string matched = match_remark(total.unmatched_share, total.guessed_share);
  if (total.stacks == 0) return "no stack differs by more than chance; " + matched;
  return matched;
}

DifferenceTable table_of(const DifferenceTotal& total, const Results& results) {
  DifferenceTable table;
  table.candidate = total.candidate;
  table.role = total.role;
  table.kind = total.kind;
  table.heap = total.heap;
  table.title = results.is_alone()
                    ? fmt::format("{}: {}", subject_of(total), format_bytes(total.candidate_bytes))
                    : fmt::format("{}: {} with {}, {} with {}", subject_of(total),
                                  format_bytes(total.baseline_bytes), results.baseline,
                                  format_bytes(total.candidate_bytes), total.candidate);
  table.change = total.candidate_bytes - total.baseline_bytes;
  for (const Difference& row : results.differences) {
    if (row.candidate == total.candidate && row.role == total.role && row.kind == total.kind &&
        row.heap == total.heap)
      table.rows.push_back(shown_row(row));
  }
  if (results.is_alone())
    for (DifferenceRow& row : table.rows)
      row.amount = format_bytes_with_interval(row.size, row.half_width);
  else
    table.remark = remark_on(total);
  return table;
}

}  // namespace

std::string match_remark(double unmatched_share, double guessed_share) {
  std::string matched =
      unmatched_share > 0
          ? fmt::format(
                "{} of the bytes of both could not be matched: their stacks are in one of "
                "them only, or have no names",
                format_percent(unmatched_share))
          : "every stack is in both";
  if (guessed_share > 0)
    matched += fmt::format(
        "; {} lie in stacks that are alike, not equal: functions were renamed, inlined or have no "
        "names",
        format_percent(guessed_share));
  return matched;
}

std::string amount_of(const std::string& kind, double size, double half_width) {
  const char* sign = size < 0 ? "−" : "+";
  if (kind == "allocations") return fmt::format("{}{:.0f} allocations", sign, std::abs(size));
  // Below a byte it is what rounding leaves of an exact profile.
  return sign + format_bytes_with_interval(std::abs(size), half_width >= 1 ? half_width : 0);
}

std::optional<DifferenceTable> difference_table_for(const Results& results,
                                                    const std::string& candidate,
                                                    const std::string& role,
                                                    const std::string& metric) {
  if (!is_resident_peak(metric) && !is_of_the_heap(metric)) return std::nullopt;
  const std::vector<const DifferenceTotal*> totals = totals_for({candidate, role, metric}, results);
  if (totals.empty()) return std::nullopt;
  return table_of(*totals.front(), results);
}

std::vector<DifferenceTable> difference_tables(const Results& results) {
  std::vector<const DifferenceTotal*> shown;
  std::vector<const DifferenceTotal*> asked;  // by a gate on one heap alone
  for (const Question& question : questions_of(results)) {
    for (const DifferenceTotal* total : totals_for(question, results)) {
      if (std::ranges::find(shown, total) == shown.end()) shown.push_back(total);
      if (asks_heap(question.metric) || asks_mappings(question.metric)) asked.push_back(total);
    }
  }
  const auto is_in_both = [&](const DifferenceTotal* total) {
    return total->heap != to_name(Heap::both) && std::ranges::find(asked, total) == asked.end() &&
           std::ranges::any_of(shown, [&](const DifferenceTotal* other) {
             return other->heap == to_name(Heap::both) && other->candidate == total->candidate &&
                    other->role == total->role && other->kind == total->kind;
           });
  };
  std::vector<DifferenceTable> tables;
  for (const DifferenceTotal* total : shown)
    if (!is_in_both(total)) tables.push_back(table_of(*total, results));
  return tables;
}

}  // namespace memduel
