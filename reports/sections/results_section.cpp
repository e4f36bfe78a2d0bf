// The table of the first screen: each metric of every variant, its change, its interval, the limits
// of its gates and its verdict.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "model/metric_catalogue.h"
#include "sections/open_row.h"
#include "sections/result_rows.h"
#include "sections/row_labels.h"
#include "sections/sections.h"
#include "stats/estimates.h"
#include "util/text.h"
#include "verdict/comparison.h"
#include "words.h"

namespace memduel {
namespace {

const char* sign_of(const GateResult& gate) {
  if (gate.outcome == GateOutcome::passed) return " ✓";
  return gate.outcome == GateOutcome::failed ? " ✗" : " ?";
}

Tone tone_of_gate(const GateResult& gate) {
  if (gate.advisory || gate.outcome == GateOutcome::inconclusive) return Tone::plain;
  return gate.outcome == GateOutcome::passed ? Tone::good : Tone::bad;
}

/// "≤+5% ✓", of what is better if it is higher "≥−1% ✓": the limits of the gates that ask about a
/// candidate's row.
Text limits_of(const JobFacts& job, const ResultRow& row, const std::string& candidate) {
  const bool is_least = metric_info(job, row.metric).better == Direction::higher;
  Text text;
  for (const GateResult* gate : row.gates) {
    if (gate->candidate != candidate) continue;
    std::string limit = limit_text(*gate);
    if (!limit.empty()) limit = (is_least ? "≥" : "≤") + limit;
    if (limit.empty() && gate->outcome == GateOutcome::failed) limit = "failed";
    if (!limit.empty())
      text.add(text.empty() ? "" : ", ").add(limit + sign_of(*gate), tone_of_gate(*gate));
  }
  return text.empty() ? Text("–", Tone::muted) : text;
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
    Table table;
    table.look = "results";
    table.columns.push_back({"metric"});
    if (is_alone())
      table.columns.insert(table.columns.end(), {{"median", true}, {"min … max", true}});
    else if (is_pair())
      for (const ArmSummary* variant : shown_.variants)
        table.columns.push_back({variant->name, true});
    else
      table.columns.insert(table.columns.end(), {{"variant"}, {"median", true}});
    if (!is_alone())
      table.columns.insert(table.columns.end(), {{"change", true}, {"95% CI", true}});
    if (has_limits()) table.columns.push_back({"limit", true});
    if (!is_alone()) table.columns.push_back({"verdict"});
    table.columns.push_back({"trials", false, false, Medium::page});
    std::string group;
    for (const ResultRow& row : shown_.rows) {
      if (!is_pair() && !is_alone()) {
        add_rows(table, row);
        continue;
      }
      if (is_of_several_roles(row) && row.metric != group)
        table.rows.push_back(group_row(metric_words(results_.job, row.metric), table));
      group = row.metric;
      table.rows.push_back(row_of(row));
    }
    add_output(table);
    return table;
  }

  [[nodiscard]] std::size_t left_out() const { return shown_.left_out; }

  [[nodiscard]] bool differs_from_medians() const {
    return any_shown(
        [](const Comparison* one) { return one != nullptr && !is_change_of_medians(*one); });
  }

  [[nodiscard]] bool any_not_judged() const {
    return any_shown([this](const Comparison* one) { return is_left_open(one); });
  }

 private:
  template <typename Predicate>
  [[nodiscard]] bool any_shown(Predicate predicate) const {
    return std::ranges::any_of(shown_.rows, [&](const ResultRow& row) {
      return std::ranges::any_of(row.comparisons, predicate);
    });
  }

  [[nodiscard]] bool is_left_open(const Comparison* one) const {
    return one != nullptr && is_not_judged(results_, *one);
  }

  /// Limits that nobody named and that decide nothing are in the details.
  [[nodiscard]] bool has_limits() const {
    return std::ranges::any_of(results_.gates, [this](const GateResult& gate) {
      return !gate.advisory || model_.has_named_gates;
    });
  }
  [[nodiscard]] bool is_alone() const { return shown_.variants.size() == 1; }
  [[nodiscard]] bool is_pair() const { return shown_.variants.size() == 2; }
  [[nodiscard]] bool is_of_several_roles(const ResultRow& row) const {
    return std::ranges::count(shown_.rows, row.metric, &ResultRow::metric) > 1;
  }

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
    return median(std::move(values));
  }

  [[nodiscard]] Cell value_cell(const std::string& variant, const ResultRow& row) const {
    const std::optional<double> median = median_of(variant, row);
    const double baseline = median_of(results_.baseline, row).value_or(median.value_or(0));
    Cell cell(value_text_like(row.metric, median, baseline));
    cell.exact = exact_text(row.metric, median);
    cell.value = median;
    cell.variant = variant;
    return cell;
  }

  /// "77.1 … 77.9 MiB": the smallest and the largest trial.
  [[nodiscard]] Cell range_cell(const ResultRow& row) const {
    const std::vector<double> values = trials_of(results_.baseline, row);
    if (values.size() < 2) return {"–"};
    const auto [least, most] = std::ranges::minmax(values);
    const double unit_of = median(values);
    const std::string high = value_text_like(row.metric, most, unit_of);
    const std::string low = value_text_like(row.metric, least, unit_of);
    Cell cell(least == most ? "identical"
                            : fmt::format("{} … {}", low.substr(0, low.find(' ')), high));
    cell.exact =
        fmt::format("{} … {}", exact_text(row.metric, least), exact_text(row.metric, most));
    return cell;
  }

  /// Dots and medians of these variants, on a line from the least trial of all variants to the
  /// most: from 0, trials that overlap could not be told apart.
  [[nodiscard]] Cell track_cell(const ResultRow& row,
                                const std::vector<const ArmSummary*>& of) const {
    std::vector<double> all;
    for (const ArmSummary* variant : shown_.variants)
      std::ranges::copy(trials_of(variant->name, row), std::back_inserter(all));
    Cell cell;
    if (all.empty()) return cell;
    const auto [least, most] = std::ranges::minmax(all);
    const auto place = [low = least, span = most - least](double value) {
      return span > 0 ? (value - low) / span : 0.5;
    };
    cell.track = Track{};
    for (const ArmSummary* variant : of) {
      for (const double value : trials_of(variant->name, row))
        cell.track->marks.push_back({MarkKind::dot, place(value), place(value), variant->name});
      if (const auto median = median_of(variant->name, row))
        cell.track->marks.push_back(
            {MarkKind::median, place(*median), place(*median), variant->name});
    }
    return cell;
  }

  [[nodiscard]] Cell verdict_cell(const ResultRow& row, std::size_t candidate) const {
    if (const Comparison* one = row.comparisons.at(candidate); one != nullptr && one->is_of_dead())
      return {"failed", Tone::bad};
    if (const Comparison* one = row.comparisons.at(candidate); one != nullptr)
      return {is_left_open(one) ? "not judged†" : std::string(to_name(one->verdict)),
              memduel::tone_of(one->verdict)};
    for (const GateResult* gate : row.gates)
      if (gate->candidate == shown_.variants.at(candidate + 1)->name)
        return {std::string(gate->word()), tone_of_gate(*gate)};
    return {};
  }

  static Cell change_cell(const Comparison* one) {
    if (one == nullptr) return {"–"};
    Cell cell(change_text(*one) + (is_change_of_medians(*one) ? "" : "*"),
              memduel::tone_of(one->verdict));
    cell.value = shown_change(*one);
    if (cell.value) cell.exact = fmt::format("{}", *cell.value);
    return cell;
  }

  /// Change, interval, limit and verdict of a candidate.
  void add_evidence(Row& shown, const ResultRow& row, std::size_t candidate) const {
    const Comparison* one = row.comparisons.at(candidate);
    shown.cells.push_back(change_cell(one));
    shown.cells.emplace_back(one == nullptr ? std::string("–") : interval_text(*one));
    if (has_limits())
      shown.cells.emplace_back(
          limits_of(results_.job, row, shown_.variants.at(candidate + 1)->name));
    shown.cells.push_back(verdict_cell(row, candidate));
  }

  /// Above the rows of one metric of several roles.
  static Row group_row(std::string metric, const Table& table) {
    Row row;
    row.kind = RowKind::group;
    row.cells.emplace_back(std::move(metric));
    row.cells.resize(table.columns.size());
    return row;
  }

  /// Of one variant, or of two.
  [[nodiscard]] Row row_of(const ResultRow& row) const {
    Row shown;
    shown.key = row.role + " " + row.metric;
    const bool is_member = is_of_several_roles(row);
    if (is_member) shown.kind = RowKind::member;
    shown.cells.emplace_back(is_member ? role_words(results_.job, row.role)
                                       : row_label(results_.job, row, shown_));
    for (const ArmSummary* variant : shown_.variants)
      shown.cells.push_back(value_cell(variant->name, row));
    if (!is_alone()) add_evidence(shown, row, 0);
    if (is_alone()) shown.cells.push_back(range_cell(row));
    if (is_alone() && has_limits())
      shown.cells.emplace_back(limits_of(results_.job, row, results_.baseline));
    shown.cells.push_back(track_cell(row, shown_.variants));
    return shown;
  }

  /// Of more than two variants: one row each.
  void add_rows(Table& table, const ResultRow& row) const {
    for (std::size_t i = 0; i < shown_.variants.size(); ++i) {
      const std::string& variant = shown_.variants[i]->name;
      Row shown;
      shown.key = variant + " " + row.role + " " + row.metric;
      shown.kind = i == 0 ? RowKind::plain : RowKind::detail;
      shown.cells.emplace_back(i == 0 ? row_label(results_.job, row, shown_) : "");
      shown.cells.emplace_back(variant);
      shown.cells.push_back(value_cell(variant, row));
      if (i == 0)
        shown.cells.emplace_back("baseline", Tone::muted);
      else
        add_evidence(shown, row, i - 1);
      shown.cells.resize(table.columns.size() - 1);
      shown.cells.push_back(track_cell(row, {shown_.variants[i]}));
      table.rows.push_back(std::move(shown));
    }
  }

  /// Whether each candidate computes the same as the baseline.
  void add_output(Table& table) const {
    std::vector<const Equivalence*> known;
    for (const Equivalence& one : results_.equivalence)
      if (one.bit_identical) known.push_back(&one);
    if (known.empty() || is_alone()) return;
    const bool is_model = std::ranges::all_of(known, [](auto* one) { return one->files.empty(); });
    const bool are_alike = std::ranges::all_of(
        known, [&](auto* one) { return one->bit_identical == known.front()->bit_identical; });
    for (std::size_t i = 0; i < (are_alike ? 1 : known.size()); ++i) {
      Row row;
      if (i > 0) row.kind = RowKind::detail;
      row.cells.emplace_back(i > 0 ? "" : is_model ? "final model" : "output");
      row.cells.emplace_back(is_pair() ? "" : are_alike ? "all" : known[i]->candidate);
      row.cells.push_back(*known[i]->bit_identical ? Cell("identical", Tone::good)
                                                   : Cell("differs", Tone::strong));
      row.cells.resize(table.columns.size());
      table.rows.push_back(std::move(row));
    }
  }

  const ReportModel& model_;
  const Results& results_;
  ResultRows shown_;
  Observations observed_;
};

}  // namespace

Section results_section(const ReportModel& model) {
  Section section{"results", "", {}};
  ResultTable results(model);
  Table table = results.table();
  if (table.rows.empty()) return section;
  section.add(std::move(table));
  if (results.differs_from_medians())
    section.add(Paragraph{
        Text("* Estimated from all pairs of trials (Hodges–Lehmann): the change of the medians is "
             "outside of the 95% CI.",
             Tone::muted)});
  if (results.any_not_judged())
    section.add(Paragraph{
        Text("† The runs were not interleaved, so machine drift could cause the difference.",
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
