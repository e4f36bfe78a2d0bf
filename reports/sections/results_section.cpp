// The table of the first screen: each metric of every variant, its change, its interval, the limits
// of its gates and its verdict.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include "model/metric_catalogue.h"
#include "sections/result_rows.h"
#include "sections/sections.h"
#include "util/text.h"
#include "verdict/comparison.h"
#include "words.h"

namespace memduel {
namespace {

const char* sign_of(const GateResult& gate) {
  if (gate.outcome == GateOutcome::passed) return "✓";
  return gate.outcome == GateOutcome::failed ? "✗" : "?";
}

Tone tone_of_gate(const GateResult& gate) {
  if (gate.advisory || gate.outcome == GateOutcome::inconclusive) return Tone::plain;
  return gate.outcome == GateOutcome::passed ? Tone::good : Tone::bad;
}

/// Each limit once, of several candidates the worst outcome.
Text limits_of(const ResultRow& row) {
  std::vector<std::pair<std::string, const GateResult*>> limits;
  for (const GateResult* gate : row.gates) {
    std::string limit = limit_text(*gate);
    if (limit.empty() && gate->outcome == GateOutcome::failed) limit = "failed";
    if (limit.empty()) continue;
    const auto known = std::ranges::find(limits, limit, [](const auto& one) { return one.first; });
    if (known == limits.end())
      limits.emplace_back(limit, gate);
    else if (gate->outcome == GateOutcome::failed)
      known->second = gate;
  }
  Text text;
  for (const auto& [limit, gate] : limits)
    text.add(text.empty() ? "" : ", ")
        .add(gate->advisory ? limit : limit + " " + sign_of(*gate), tone_of_gate(*gate));
  return text.empty() ? Text("–", Tone::muted) : text;
}

/// Whether a reader who divides the medians gets another change than the estimate.
bool is_other_than_medians(const Comparison* row) {
  constexpr double kVisible = 0.006;
  return row != nullptr && row->ratio && row->baseline_median && row->candidate_median &&
         *row->baseline_median > 0 &&
         std::abs(*row->ratio - *row->candidate_median / *row->baseline_median) > kVisible;
}

class ResultTable {
 public:
  explicit ResultTable(const ReportModel& model)
      : model_(model),
        results_(model.results),
        shown_(result_rows(model)),
        observed_(observe(results_.trials, results_.job, names_of(shown_.variants),
                          results_.warmup_rounds)) {}

  Table table() {
    const std::size_t variants = shown_.variants.size();
    Table table;
    table.look = "results";
    table.columns.push_back({"metric"});
    for (const ArmSummary* variant : shown_.variants)
      table.columns.push_back({variant->name, true});
    if (variants == 2)
      table.columns.insert(table.columns.end(), {{"change", true}, {"95% CI", true}});
    if (!results_.gates.empty()) table.columns.push_back({"limit", true});
    if (variants == 2) table.columns.push_back({"verdict"});
    table.columns.push_back({"trials", false, false, Medium::page});
    for (const ResultRow& row : shown_.rows) {
      if (variants == 2)
        table.rows.push_back(pair_row(row));
      else
        add_rows(table, row);
    }
    add_output(table);
    return table;
  }

  [[nodiscard]] std::size_t left_out() const { return shown_.left_out; }
  [[nodiscard]] const ResultRows& shown() const { return shown_; }

  [[nodiscard]] bool differs_from_medians() const {
    return std::ranges::any_of(shown_.rows, [](const ResultRow& row) {
      return std::ranges::any_of(row.comparisons, is_other_than_medians);
    });
  }

 private:
  static std::vector<std::string> names_of(const std::vector<const ArmSummary*>& variants) {
    std::vector<std::string> names;
    for (const ArmSummary* variant : variants) names.push_back(variant->name);
    return names;
  }

  [[nodiscard]] std::vector<double> trials_of(const std::string& variant,
                                              const ResultRow& row) const {
    const ArmObservations* own = find_arm(observed_, variant);
    return own == nullptr ? std::vector<double>() : values_of(*own, row.role, row.metric);
  }

  /// The median of a variant: of a row that was compared its own, else of the variant's trials.
  [[nodiscard]] std::optional<double> median_of(const std::string& variant,
                                                const ResultRow& row) const {
    for (const Comparison* one : row.comparisons) {
      if (one == nullptr) continue;
      if (variant == one->baseline) return one->baseline_median;
      if (variant == one->candidate) return one->candidate_median;
    }
    std::vector<double> values = trials_of(variant, row);
    if (values.empty()) return std::nullopt;
    std::ranges::sort(values);
    const std::size_t half = values.size() / 2;
    return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
  }

  [[nodiscard]] Cell value_cell(const std::string& variant, const ResultRow& row) const {
    const std::optional<double> median = median_of(variant, row);
    Cell cell(value_text(row.metric, median));
    cell.exact = exact_text(row.metric, median);
    cell.value = median;
    cell.variant = variant;
    return cell;
  }

  /// A row's dots, medians and interval on a line from 0.
  [[nodiscard]] Cell track_cell(const ResultRow& row) const {
    std::vector<TrackMark> marks;
    double most = 0;
    double least = 0;
    const auto add = [&](MarkKind kind, double from, double to, const std::string& variant) {
      most = std::max({most, from, to});
      least = std::min({least, from, to});
      marks.push_back({kind, from, to, variant});
    };
    for (const Comparison* one : row.comparisons) {
      if (one == nullptr || !one->ci_low || !one->ci_high || !one->baseline_median) continue;
      const double base = *one->baseline_median;
      add(MarkKind::range, one->ratio ? base * *one->ci_low : base + *one->ci_low,
          one->ratio ? base * *one->ci_high : base + *one->ci_high, one->candidate);
    }
    for (const ArmSummary* variant : shown_.variants) {
      for (const double value : trials_of(variant->name, row))
        add(MarkKind::dot, value, value, variant->name);
      if (const auto median = median_of(variant->name, row))
        add(MarkKind::median, *median, *median, variant->name);
    }
    Cell cell;
    if (marks.empty() || most <= least) return cell;
    for (TrackMark& mark : marks) {
      mark.from = (mark.from - least) / (most - least);
      mark.to = (mark.to - least) / (most - least);
    }
    cell.track = Track{std::move(marks)};
    return cell;
  }

  [[nodiscard]] Row begun(const ResultRow& row) const {
    Row shown;
    shown.key = row.role + " " + row.metric;
    shown.cells.emplace_back(quantity(results_.job, row.role, row.metric));
    for (const ArmSummary* variant : shown_.variants)
      shown.cells.push_back(value_cell(variant->name, row));
    return shown;
  }

  [[nodiscard]] Cell verdict_cell(const ResultRow& row, std::size_t candidate) const {
    if (const Comparison* one = row.comparisons.at(candidate); one != nullptr && one->is_of_dead())
      return {"failed", Tone::bad};
    if (const Comparison* one = row.comparisons.at(candidate); one != nullptr)
      return {std::string(to_name(one->verdict)), memduel::tone_of(one->verdict)};
    for (const GateResult* gate : row.gates)
      if (gate->candidate == shown_.variants.at(candidate + 1)->name)
        return {std::string(gate->word()), tone_of_gate(*gate)};
    return {};
  }

  static Cell change_cell(const Comparison* one) {
    if (one == nullptr) return {"–"};
    Cell cell(change_text(*one) + (is_other_than_medians(one) ? "*" : ""),
              memduel::tone_of(one->verdict));
    const std::optional<double> middle = one->ratio ? one->ratio : one->difference;
    cell.value = middle;
    if (middle) cell.exact = fmt::format("{}", *middle);
    return cell;
  }

  Row pair_row(const ResultRow& row) const {
    const Comparison* one = row.comparisons.front();
    Row shown = begun(row);
    shown.cells.push_back(change_cell(one));
    shown.cells.emplace_back(one == nullptr ? std::string("–") : interval_text(*one));
    if (!results_.gates.empty()) shown.cells.emplace_back(limits_of(row));
    shown.cells.push_back(verdict_cell(row, 0));
    shown.cells.push_back(track_cell(row));
    return shown;
  }

  /// Of one variant, or of more than two: the medians, then each candidate's change and interval.
  void add_rows(Table& table, const ResultRow& row) const {
    const bool is_compared = shown_.variants.size() > 1;
    Row medians = begun(row);
    if (!results_.gates.empty()) medians.cells.emplace_back(limits_of(row));
    medians.cells.push_back(track_cell(row));
    table.rows.push_back(std::move(medians));
    if (!is_compared) return;
    const std::string verdict = common_verdict(row);
    add_detail(table, verdict.empty() ? "change" : "all " + verdict, row,
               [](const Comparison* one) { return change_cell(one); });
    add_detail(table, "95% CI", row, [](const Comparison* one) {
      return Cell(one == nullptr ? "–" : interval_text(*one), Tone::muted);
    });
    if (verdict.empty())
      add_detail(table, "verdict", row, [](const Comparison* one) {
        return one == nullptr
                   ? Cell("–")
                   : Cell(std::string(to_name(one->verdict)), memduel::tone_of(one->verdict));
      });
  }

  template <typename CellOf>
  void add_detail(Table& table, const std::string& title, const ResultRow& row,
                  CellOf cell_of) const {
    Row detail;
    detail.kind = RowKind::detail;
    detail.cells.emplace_back(title, Tone::muted);
    detail.cells.emplace_back();
    for (const Comparison* one : row.comparisons) detail.cells.push_back(cell_of(one));
    detail.cells.resize(table.columns.size());
    table.rows.push_back(std::move(detail));
  }

  /// Of all candidates; empty where they have different ones.
  static std::string common_verdict(const ResultRow& row) {
    const Comparison* first = row.comparisons.front();
    const bool is_common = std::ranges::all_of(row.comparisons, [&](const Comparison* one) {
      return one != nullptr && first != nullptr && one->verdict == first->verdict;
    });
    return is_common ? std::string(to_name(first->verdict)) : "";
  }

  /// Whether each candidate computes the same as the baseline.
  void add_output(Table& table) const {
    std::map<std::string, const Equivalence*> known;
    bool is_model = true;
    for (const Equivalence& one : results_.equivalence) {
      if (!one.bit_identical) continue;
      known[one.candidate] = &one;
      is_model = is_model && one.files.empty();
    }
    if (known.empty() || shown_.variants.size() < 2) return;
    Row row;
    row.cells.emplace_back(is_model ? "final model" : "output");
    row.cells.emplace_back();
    for (const ArmSummary* variant : shown_.variants) {
      if (variant->name == results_.baseline) continue;
      const auto found = known.find(variant->name);
      if (found == known.end())
        row.cells.emplace_back("–");
      else if (*found->second->bit_identical)
        row.cells.emplace_back("same", Tone::good);
      else
        row.cells.emplace_back("differs", Tone::strong);
    }
    row.cells.resize(table.columns.size());
    table.rows.push_back(std::move(row));
  }

  const ReportModel& model_;
  const Results& results_;
  ResultRows shown_;
  Observations observed_;
};

/// The number at the end of a name: 16 of "n-16". Absent without one.
std::optional<double> number_of(const std::string& name, std::string& stem) {
  const std::size_t at = name.find_last_not_of("0123456789.");
  if (at == std::string::npos || at + 1 == name.size()) return std::nullopt;
  double number = 0;
  const char* const end = name.data() + name.size();
  const auto [rest, error] = std::from_chars(name.data() + at + 1, end, number);
  if (error != std::errc() || rest != end) return std::nullopt;
  stem = name.substr(0, at + 1);
  while (!stem.empty() && (stem.back() == '-' || stem.back() == '=' || stem.back() == '_'))
    stem.pop_back();
  return number;
}

/// Of a scan of a parameter: "peak RSS falls with n: 46.5 MiB at n = 32 to 15.4 MiB at n = 1".
Text trend_of(const ResultRows& shown) {
  constexpr std::size_t kLeast = 3;
  if (shown.variants.size() < kLeast || shown.rows.empty()) return {};
  std::vector<std::pair<double, double>> points;
  std::string common;
  const ResultRow& row = shown.rows.front();
  for (const ArmSummary* variant : shown.variants) {
    std::string stem;
    const auto number = number_of(variant->name, stem);
    if (!number || (!common.empty() && stem != common)) return {};
    common = stem;
    std::optional<double> median;
    for (const Comparison* one : row.comparisons) {
      if (one == nullptr) continue;
      if (one->baseline == variant->name) median = one->baseline_median;
      if (one->candidate == variant->name) median = one->candidate_median;
    }
    if (!median) return {};
    points.emplace_back(*number, *median);
  }
  std::ranges::sort(points);
  const auto rises = [](const auto& a, const auto& b) { return a.second <= b.second; };
  const auto falls = [](const auto& a, const auto& b) { return a.second >= b.second; };
  const bool is_rising = std::ranges::is_sorted(points, rises);
  if (!is_rising && !std::ranges::is_sorted(points, falls)) return {};
  return fmt::format("Trend: {} {} with {}, {} at {} to {} at {}.", metric_info(row.metric).display,
                     is_rising ? "rises" : "falls", common,
                     value_text(row.metric, points.front().second), points.front().first,
                     value_text(row.metric, points.back().second), points.back().first);
}

}  // namespace

Section results_section(const ReportModel& model) {
  Section section{"results", "", {}};
  ResultTable results(model);
  Table table = results.table();
  if (table.rows.empty()) return section;
  section.add(std::move(table));
  if (Text trend = trend_of(results.shown()); !trend.empty())
    section.add(Paragraph{std::move(trend)});
  if (results.differs_from_medians())
    section.add(Paragraph{
        Text("* Hodges–Lehmann estimate over all pairs of trials, not b/a of the medians.",
             Tone::muted)});
  if (results.left_out() > 0)
    section.add(Paragraph{Text(
                    fmt::format("{} not shown here.",
                                format_count(results.left_out(), "more row is", "more rows are")),
                    Tone::muted)},
                Medium::all, 4);
  return section;
}

}  // namespace memduel
