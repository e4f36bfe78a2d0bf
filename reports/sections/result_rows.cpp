#include "sections/result_rows.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <tuple>

#include "model/metric_catalogue.h"
#include "reports/memory_tables.h"
#include "sections/sections.h"
#include "words.h"

namespace memduel {
namespace {

constexpr std::size_t kMostRows = 8;
constexpr std::size_t kMostRowsOfSeveral = 5;

bool is_same_row(const ResultRow& row, const std::string& role, const std::string& metric) {
  return row.role == role && row.metric == metric;
}

bool has_same_numbers_as(const ResultRow& a, const ResultRow& b) {
  return a.metric == b.metric &&
         std::ranges::equal(a.comparisons, b.comparisons, [](const auto* one, const auto* other) {
           if (one == nullptr || other == nullptr) return one == other;
           return one->baseline_median == other->baseline_median &&
                  one->candidate_median == other->candidate_median && one->ratio == other->ratio;
         });
}

class RowChooser {
 public:
  explicit RowChooser(const ReportModel& model)
      : results_(model.results),
        has_named_gates_(model.has_named_gates),
        variants_(judged_arms(model.results)) {}

  ResultRows chosen() {
    for (const ShownRow& shown : results_.first_screen.rows) add(shown.role, shown.metric);
    for (const GateResult& gate : results_.gates)
      if (gate.role != "*" && !is_growth_metric(gate.metric)) add(gate.role, gate.metric);
    if (results_.is_alone()) {
      add_measured();
      return ordered();
    }
    add_peak_rss();
    add_own_metrics();
    add_time();
    drop_doubles();
    drop_like_peak_rss();
    return ordered();
  }

 private:
  ResultRow& add(const std::string& role, const std::string& metric) {
    const auto known = std::ranges::find_if(
        rows_, [&](const ResultRow& row) { return is_same_row(row, role, metric); });
    if (known != rows_.end()) return *known;
    ResultRow row{role, metric, {}, {}};
    for (const ArmSummary* variant : variants_)
      if (variant->name != results_.baseline)
        row.comparisons.push_back(results_.row(variant->name, role, metric));
    for (const GateResult& gate : results_.gates)
      if (gate.role == role && gate.metric == metric) row.gates.push_back(&gate);
    rows_.push_back(std::move(row));
    return rows_.back();
  }

  [[nodiscard]] std::vector<double> values_of_all(const char* metric) const {
    return values_in_trials(results_, results_.baseline, kTree, metric);
  }

  /// Of a run's only variant: what was measured of all processes together. The largest process is
  /// told apart where it is not the only one.
  void add_measured() {
    constexpr std::array kMeasured = {kPeakRss, kPeakHeap, kPeakMapped, kPeakHeapAndMapped,
                                      kCpuSeconds};
    for (const char* metric : kMeasured)
      if (!values_of_all(metric).empty()) add(kTree, metric);
    if (const auto largest = values_of_all(kPeakLargestProcess);
        !largest.empty() && largest != values_of_all(kPeakRss))
      add(kTree, kPeakLargestProcess);
    if (results_.job.is_one_round) add(kTree, kRoundSeconds);
  }

  /// The number that readers know from every other tool, if no row states it.
  void add_peak_rss() {
    const bool is_stated =
        std::ranges::any_of(rows_, [](const ResultRow& row) { return row.metric == kPeakRss; });
    const bool is_known = std::ranges::any_of(results_.comparisons, [](const Comparison& row) {
      return row.role == kTree && row.metric == kPeakRss && row.has_values();
    });
    if (!is_stated && is_known && results_.ablation.empty()) add(kTree, kPeakRss);
  }

  /// What the job measures itself and what changed.
  void add_own_metrics() {
    for (const Comparison& row : results_.comparisons)
      if (!is_known_metric(row.metric) && row.is_change() && !row.is_of_dead())
        add(row.role, row.metric);
  }

  void add_time() {
    for (const ArmSummary* variant : variants_)
      if (const Comparison* row = time_row(results_, variant->name); row != nullptr)
        add(row->role, row->metric);
  }

  /// Of a role that is the whole job.
  void drop_doubles() {
    const auto is_double = [&](const ResultRow& row) {
      return row.gates.empty() && std::ranges::any_of(rows_, [&](const ResultRow& other) {
               const bool outranks =
                   !other.gates.empty() || (other.role == kTree && row.role != kTree);
               return &other != &row && outranks && has_same_numbers_as(row, other);
             });
    };
    std::vector<ResultRow> kept;
    for (const ResultRow& row : rows_)
      if (!is_double(row)) kept.push_back(row);
    rows_ = std::move(kept);
  }

  [[nodiscard]] bool has_limit(const ResultRow& row) const {
    return std::ranges::any_of(
        row.gates, [this](const GateResult* gate) { return !gate->advisory || has_named_gates_; });
  }

  [[nodiscard]] bool has_verdicts_of(const ResultRow& row, const ResultRow& other) const {
    return std::ranges::equal(row.comparisons, other.comparisons, [](auto* one, auto* two) {
      return one == nullptr || (two != nullptr && one->verdict == two->verdict);
    });
  }

  [[nodiscard]] bool was_chosen_for_its_change(const ResultRow& row) const {
    return std::ranges::any_of(results_.first_screen.rows, [&](const ShownRow& shown) {
      return is_same_row(row, shown.role, shown.metric) && shown.why != ShownFor::gate;
    });
  }

  /// Memory that no gate decides about, where peak RSS says the same of it: of a pair all but the
  /// heap, of several variants all.
  void drop_like_peak_rss() {
    const auto known = std::ranges::find_if(
        rows_, [](const ResultRow& row) { return row.role == kTree && row.metric == kPeakRss; });
    if (known == rows_.end()) return;
    const ResultRow peak = *known;
    const bool is_pair = variants_.size() == 2;
    std::erase_if(rows_, [&](const ResultRow& row) {
      const bool is_heap = row.metric == kPeakHeap || row.metric == kPeakHeapAndMapped;
      return row.metric != kPeakRss && metric_info(row.metric).unit == Unit::bytes &&
             !(is_pair && is_heap) && !has_limit(row) && !was_chosen_for_its_change(row) &&
             has_verdicts_of(row, peak);
    });
  }

  /// What a reader must not miss comes first: 0 is most urgent.
  [[nodiscard]] int urgency(const ResultRow& row) const {
    const auto any = [&](Verdict verdict) {
      return std::ranges::any_of(row.comparisons, [&](const Comparison* one) {
        return one != nullptr && one->verdict == verdict;
      });
    };
    if (row.has_failed_gate()) return 0;
    if (!row.gates.empty()) return 1;
    if (any(Verdict::regressed)) return 2;
    if (row.metric == kRoundSeconds || row.metric == kPeakRss) return 3;
    return any(Verdict::improved) || any(Verdict::changed) ? 4 : 5;
  }

  ResultRows ordered() {
    ResultRows chosen{variants_, std::move(rows_), 0};
    std::vector<ResultRow>& rows = chosen.rows;
    std::ranges::stable_sort(rows, {}, [&](const ResultRow& row) { return urgency(row); });
    const std::size_t most = variants_.size() > 2 ? kMostRowsOfSeveral : kMostRows;
    if (rows.size() > most) {
      chosen.left_out = rows.size() - most;
      rows.resize(most);
    }
    std::ranges::stable_sort(rows, {},
                             [](const ResultRow& row) { return metric_order(row.metric); });
    return chosen;
  }

  const Results& results_;
  bool has_named_gates_;
  std::vector<const ArmSummary*> variants_;
  std::vector<ResultRow> rows_;
};

}  // namespace

bool ResultRow::has_failed_gate() const {
  return std::ranges::any_of(gates, [](const GateResult* gate) { return gate->fails(); });
}

ResultRows result_rows(const ReportModel& model) {
  return RowChooser(model).chosen();
}

int metric_order(const std::string& metric) {
  constexpr std::array<std::string_view, 4> kMapped = {kPeakHeapAndMapped, kEndHeapAndMapped,
                                                       kPeakMapped, kEndMapped};
  const MetricInfo info = metric_info(metric);
  if (metric == kPeakRss) return 0;
  if (is_resident_peak(metric)) return 1;
  if (info.meter == "cuda" || info.meter == "nvml") return 2;
  if (metric == kPeakHeap || metric == kEndHeap) return 3;
  if (std::ranges::find(kMapped, metric) != kMapped.end()) return 4;
  switch (info.unit) {
    case Unit::bytes:
      return 5;
    case Unit::bytes_per_round:
    case Unit::bytes_per_minute:
      return 6;
    case Unit::count:
      return 7;
    case Unit::ratio:
    case Unit::number:
      return 8;
    case Unit::seconds:
      break;
  }
  return metric == kRoundSeconds ? 9 : 10;
}

bool uses_least(const Results& results, const std::string& candidate) {
  const auto first = std::ranges::find_if(results.first_screen.rows, [&](const ShownRow& shown) {
    return shown.candidate == candidate && metric_info(shown.metric).unit == Unit::bytes;
  });
  if (first == results.first_screen.rows.end()) return false;
  const Comparison* own = results.row(candidate, first->role, first->metric);
  return own != nullptr && own->candidate_median &&
         std::ranges::none_of(results.comparisons, [&](const Comparison& other) {
           return other.role == first->role && other.metric == first->metric &&
                  other.candidate_median.value_or(*own->candidate_median) < *own->candidate_median;
         });
}

const Comparison* time_row(const Results& results, const std::string& candidate) {
  const Comparison* found = nullptr;
  for (const Comparison& row : results.comparisons) {
    if (row.candidate != candidate || row.metric != kRoundSeconds) continue;
    if (found == nullptr || row.role == results.job.reference) found = &row;
  }
  return found;
}

}  // namespace memduel
