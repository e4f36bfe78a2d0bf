// The largest causes of the changes, as profiles explain them.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "focus.h"
#include "model/metric_catalogue.h"
#include "reports/memory_tables.h"
#include "sections/open_row.h"
#include "sections/sections.h"
#include "util/text.h"
#include "words.h"

namespace memduel {
namespace {

/// Of the largest cause of a row: less is no reason.
constexpr double kLeastShown = 0.04;
constexpr double kAll = 0.985;
constexpr double kMoreThanAll = 1.015;

/// ", 69% of the change in server peak RSS": of all but the first cause the share alone.
std::string share_words(const ReportModel& model, const Cause& cause, bool is_first) {
  const bool is_alone = model.results.is_alone();
  const std::string share = cause.share > kMoreThanAll && !is_alone ? "more than all"
                            : cause.share > kAll                    ? "all"
                                                                    : format_percent(cause.share);
  if (!is_first) return ", " + share;
  const std::string end = " of " + cause.candidate;  // which the row begins with
  const std::string of =
      cause.of.ends_with(end) ? cause.of.substr(0, cause.of.size() - end.size()) : cause.of;
  return fmt::format(", {} of {}{}", share, is_alone ? "" : "the change in ", of);
}

Row cause_row(const ReportModel& model, const Cause& cause, bool is_first, bool has_shares) {
  Row row;
  row.cells.push_back({cause.amount, model.results.is_alone() ? Tone::strong
                                     : cause.more             ? Tone::bad
                                                              : Tone::good});
  row.cells.back().value = cause.size;
  const bool names_candidate = is_first && model.results.arms.size() > 2;
  Text where = with_location(
      (names_candidate ? cause.candidate + " vs. " + model.results.baseline + ": " : "") +
          cause.name,
      cause.location);
  if (cause.share > 0 && has_shares) where.add(share_words(model, cause, is_first), Tone::muted);
  row.cells.emplace_back(std::move(where));
  return row;
}

/// Of a row's causes: two, or three if two leave more of its change than the first one explains.
std::size_t enough_causes(const std::vector<Cause>& causes) {
  constexpr std::size_t kFew = 2;
  double rest = 1;
  for (std::size_t i = 0; i < std::min(kFew, causes.size()); ++i) rest -= causes[i].share;
  return rest > causes.front().share ? kFew + 1 : kFew;
}

/// The causes of each row, without those that are small beside its largest; of several rows fewer
/// each.
std::vector<std::vector<Cause>> causes_by_row(const std::vector<Cause>& all) {
  std::vector<std::vector<Cause>> rows;
  for (const Cause& cause : all) {
    if (rows.empty() || rows.back().front().of != cause.of) rows.emplace_back();
    rows.back().push_back(cause);
  }
  for (std::vector<Cause>& row : rows) {
    double largest = 0;
    for (const Cause& cause : row) largest = std::max(largest, std::abs(cause.size));
    const auto small = std::ranges::stable_partition(
        row, [&](const Cause& cause) { return std::abs(cause.size) >= kLeastShown * largest; });
    keep_first(row, row.size() - small.size());
    if (rows.size() > 1) keep_first(row, enough_causes(row));
  }
  return rows;
}

/// Of the row that they explain; absent without a share.
std::optional<double> change_behind(const std::vector<Cause>& causes) {
  const auto partial =
      std::ranges::find_if(causes, [](const Cause& cause) { return cause.share > 0; });
  if (partial == causes.end()) return std::nullopt;
  return partial->size / partial->share;
}

/// "server: −58.2 MiB": before the causes of a role's change.
Text role_head(const std::vector<Cause>& causes, double change, bool names_candidate) {
  const Cause& first = causes.front();
  return {fmt::format("{}{}: {}", first.role, names_candidate ? " of " + first.candidate : "",
                      signed_metric(first.metric, change)),
          Tone::strong};
}

/// "−15.9 MiB  12 other causes, 27%", "+5.30 MiB  all other memory": what
/// the causes of a row of bytes leave of its change; absent if it is small.
std::optional<Row> rest_row(const std::vector<Cause>& causes) {
  constexpr double kLeastRest = 0.05;
  const std::optional<double> change = change_behind(causes);
  if (!change || metric_info(causes.front().metric).unit != Unit::bytes) return std::nullopt;
  double rest = *change;
  for (const Cause& cause : causes) rest -= cause.size;
  if (std::abs(rest) < kLeastRest * std::abs(*change)) return std::nullopt;
  Row row;
  row.cells.push_back({signed_metric(causes.front().metric, rest), Tone::muted});
  row.cells.back().value = rest;
  const double share = rest / *change;
  const Cause& last = causes.back();
  // The profile's causes need not sum to the difference of the medians.
  const bool are_all = static_cast<double>(last.others) * last.largest_other >= std::abs(rest);
  const std::string others = last.others == 0 ? "not explained by the profile"
                             : are_all        ? format_count(last.others, "other cause")
                                              : "other causes";
  row.cells.emplace_back(
      Text(share > 0 ? others + ", " + format_percent(share) : "all other memory", Tone::muted));
  return row;
}

/// "from 16.2 to 20.1 MiB": the smallest and the largest trial.
std::string range_words(const std::string& metric, const std::vector<double>& values) {
  const auto [least, most] = std::ranges::minmax(values);
  const std::string low = value_text_like(metric, least, most);
  return fmt::format("from {} to {}", low.substr(0, low.find(' ')),
                     value_text_like(metric, most, most));
}

/// Why trials do not decide: how much those of one variant differ.
Text spread_of(const ReportModel& model) {
  const Comparison* row = open_row(model, candidate_in_focus(model.results));
  if (row == nullptr) return {};
  const auto values_of = [&](const std::string& variant) {
    return values_in_trials(model.results, variant, row->role, row->metric);
  };
  const std::vector<double> baseline = values_of(row->baseline);
  const std::vector<double> candidate = values_of(row->candidate);
  if (baseline.size() < 2 || candidate.size() < 2) return {};
  const std::string spread = fmt::format("Trials of {} range {}, those of {} {}.", row->baseline,
                                         range_words(row->metric, baseline), row->candidate,
                                         range_words(row->metric, candidate));
  const std::string quantity_words = quantity(model.results.job, row->role, row->metric);
  const GateResult* gate = gate_on(model.results, *row, GateOutcome::inconclusive);
  if (gate == nullptr || !gate->evidence.limit || !gate->evidence.estimate ||
      gate->evidence.quantity != GateQuantity::ratio || !gate->beyond_bound)
    return (is_some_change(*row)
                ? fmt::format("Whether {} changed by more than the margin is open. ",
                              quantity_words)
                : fmt::format("No difference of {} is established, so no cause is shown. ",
                              quantity_words)) +
           spread;
  // The change of the medians is shown, and may be on the other side of the limit.
  const bool is_shown_beyond = (*shown_change(*row) > *gate->evidence.limit) ==
                               (*gate->evidence.estimate > *gate->evidence.limit);
  return fmt::format("Inconclusive because {} {} the limit of {}, but may be noise. {}",
                     is_shown_beyond ? change_text(*row)
                                     : fmt::format("the estimate from all pairs of trials, {},",
                                                   ratio_text(*gate->evidence.estimate)),
                     asks_for_improvement(model.results.job, *gate) ? "misses" : "exceeds",
                     limit_text(*gate), spread);
}

}  // namespace

Section why_section(const ReportModel& model) {
  const bool is_alone = model.results.is_alone();
  Section section{"why", is_alone ? "Where" : "Why", {}};
  const bool names_candidate = model.results.arms.size() > 2;
  for (const std::vector<Cause>& causes : causes_by_row(model.causes)) {
    const std::optional<double> change = change_behind(causes);
    const bool has_head = change && !causes.front().role.empty();
    const std::optional<Row> rest = is_alone ? std::nullopt : rest_row(causes);
    // Parts that sum to more than the change, as something offsets them, are no shares of it.
    const bool has_shares = !rest || (*rest->cells.front().value > 0) == causes.front().more;
    Table table;
    table.columns = {{is_alone ? "memory" : "change", true}, {"where"}};
    table.has_heading = false;
    table.look = "causes";
    for (const Cause& cause : causes)
      table.rows.push_back(
          cause_row(model, cause, &cause == &causes.front() && !has_head, has_shares));
    if (rest) table.rows.push_back(*rest);
    if (has_head)
      for (Row& row : table.rows) row.kind = RowKind::member;
    if (has_head) section.add(Paragraph{role_head(causes, *change, names_candidate)});
    section.add(std::move(table));
  }
  if (section.empty() && model.results.overall.outcome == OverallOutcome::inconclusive)
    if (Text text = spread_of(model); !text.empty())
      section.add(Paragraph{std::move(text)}, Medium::all, 1);
  return section;
}

}  // namespace memduel
