// Which switch matters: each added alone to the baseline, and removed alone from the candidate.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <span>

#include "model/metric_catalogue.h"
#include "sections/cells.h"
#include "sections/sections.h"
#include "util/text.h"
#include "words.h"

namespace memduel {
namespace {

/// The rows of one role, metric and phase, largest effect first, with their total.
struct AblationTable {
  std::span<const AblationRow> rows;
  const AblationTotal* total = nullptr;
};

std::vector<AblationTable> tables_of(const Results& results) {
  std::vector<AblationTable> tables;
  const auto end = results.ablation.end();
  auto first = results.ablation.begin();
  for (const AblationTotal& total : results.ablation_totals) {
    const auto last = std::find_if(first, end, [&](const AblationRow& row) {
      return row.role != total.role || row.metric != total.metric || row.phase != total.phase;
    });
    tables.push_back({{first, last}, &total});
    first = last;
  }
  return tables;
}

std::string remainder_words(const AblationTotal& total, const AblationSum& sum) {
  std::string text = signed_metric(total.metric, *sum.remainder);
  if (sum.ci_low && sum.ci_high)
    text += fmt::format(" (95% CI {})", format_interval(signed_metric(total.metric, *sum.ci_low),
                                                        signed_metric(total.metric, *sum.ci_high)));
  if (!sum.missing.empty())
    text += fmt::format(" without {}, which has no number", fmt::join(sum.missing, ", "));
  return text;
}

/// "server peak RSS: −234.0 MiB in all; the switches added alone sum to −100.0 MiB, interaction …".
std::string total_sentence(const JobFacts& job, const AblationTotal& total) {
  std::string text = quantity(job, total.role, total.metric) + ": ";
  text += total.whole.difference ? signed_metric(total.metric, *total.whole.difference) + " in all"
                                 : "unknown in all";
  if (total.added_alone.remainder)
    text += fmt::format("; the switches added alone sum to {}, interaction {}",
                        signed_metric(total.metric, *total.added_alone.sum),
                        remainder_words(total, total.added_alone));
  if (total.left_out.remainder)
    text += fmt::format("; removed alone they sum to {}, interaction {}",
                        signed_metric(total.metric, *total.left_out.sum),
                        remainder_words(total, total.left_out));
  return text + ".";
}

/// Switches of which every row about bytes over whole trials has one of the effects.
std::vector<std::string> switches_with(const Results& results,
                                       std::initializer_list<SwitchEffect> effects) {
  std::vector<std::string> names;
  std::vector<std::string> others;
  for (const AblationRow& row : results.ablation) {
    if (row.phase || !row.metric.ends_with("_bytes")) continue;
    const bool has = std::ranges::find(effects, row.effect) != effects.end();
    std::vector<std::string>& into = has ? names : others;
    if (std::ranges::find(into, row.optimization) == into.end()) into.push_back(row.optimization);
  }
  std::erase_if(names, [&](const std::string& name) {
    return std::ranges::find(others, name) != others.end();
  });
  return names;
}

List sentences_of(const Results& results) {
  List list;
  for (const AblationTotal& total : results.ablation_totals)
    if (!total.phase && total.whole.arm)
      list.items.emplace_back(total_sentence(results.job, total));
  const auto nothing = switches_with(results, {SwitchEffect::nothing});
  auto open = switches_with(results, {SwitchEffect::nothing, SwitchEffect::inconclusive});
  std::erase_if(open, [&](const std::string& name) {
    return std::ranges::find(nothing, name) != nothing.end();
  });
  if (!nothing.empty())
    list.items.emplace_back(
        fmt::format("No effect, added alone or removed alone: {}.", fmt::join(nothing, ", ")));
  if (!open.empty())
    list.items.emplace_back(fmt::format("Inconclusive: {}.", fmt::join(open, ", ")));
  return list;
}

Tone tone_of_effect(SwitchEffect effect) {
  return effect == SwitchEffect::saves   ? Tone::good
         : effect == SwitchEffect::costs ? Tone::bad
                                         : Tone::plain;
}

std::string amount_text(const std::string& metric, std::optional<double> value) {
  if (!value) return "–";
  return (*value < 0 ? "−" : "+") + value_text(metric, std::abs(*value));
}

Cell effect_cell(const AblationCell& cell, const std::string& metric) {
  if (!cell.arm || !cell.difference)
    return {cell.idle ? "no effect here" : cell.reason, Tone::muted};
  Cell shown(amount_text(metric, cell.difference), tone_of(cell.verdict));
  shown.value = cell.difference;
  shown.variant = *cell.arm;
  shown.exact = exact_text(metric, cell.difference) + "; " + cell.reason;
  if (cell.ratio) shown.text.add(" " + ratio_text(*cell.ratio), Tone::muted);
  return shown;
}

/// An interval as a cell of its own, which only the page has room for.
Cell interval_cell(const AblationCell& cell, const std::string& metric) {
  if (!cell.ci_low || !cell.ci_high) return {};
  const auto end = [&](double value) {
    return cell.ratio ? ratio_text(value) : amount_text(metric, value);
  };
  return {format_interval(end(*cell.ci_low), end(*cell.ci_high)), Tone::muted};
}

Row sum_row(const char* name, const std::string& metric, std::optional<double> added,
            std::optional<double> removed) {
  Row row;
  row.kind = RowKind::total;
  row.cells = {
      Cell(name), Cell(amount_text(metric, added)),
      Cell(),     Cell(amount_text(metric, removed ? std::optional(-*removed) : std::nullopt)),
      Cell(),     Cell()};
  return row;
}

Table table_of(const JobFacts& job, const AblationTable& table) {
  const AblationTotal& total = *table.total;
  Table shown;
  shown.caption =
      fmt::format("{}{}: {} {}, {} {}", quantity(job, total.role, total.metric),
                  total.phase ? ", phase " + *total.phase : "", total.whole.reference,
                  value_text(total.metric, total.whole.reference_median),
                  total.whole.arm.value_or("–"), value_text(total.metric, total.whole.median));
  shown.columns = {{"switch"},
                   {"added alone", true},
                   {"95% CI", true, false, Medium::page},
                   {"removed alone", true},
                   {"95% CI", true, false, Medium::page},
                   {"effect"}};
  for (const AblationRow& row : table.rows) {
    Row line;
    line.key = row.optimization;
    line.cells = {Cell(row.optimization),
                  effect_cell(row.added_alone, row.metric),
                  interval_cell(row.added_alone, row.metric),
                  effect_cell(row.left_out, row.metric),
                  interval_cell(row.left_out, row.metric),
                  Cell(std::string(to_name(row.effect)), tone_of_effect(row.effect))};
    shown.rows.push_back(std::move(line));
  }
  shown.rows.push_back(
      sum_row("all of them", total.metric, total.whole.difference, total.whole.difference));
  shown.rows.push_back(
      sum_row("sum of the above", total.metric, total.added_alone.sum, total.left_out.sum));
  shown.rows.push_back(
      sum_row("interaction", total.metric, total.added_alone.remainder, total.left_out.remainder));
  return shown;
}

/// From the baseline to the candidate, a step a switch; empty where a whole has no number.
Table waterfall_of(const AblationTable& table, bool is_added) {
  const AblationTotal& total = *table.total;
  const AblationCell& whole = total.whole;
  if (!whole.reference_median || !whole.difference) return {};
  std::vector<Step> steps;
  const auto add = [&](Text name, double size, bool is_whole, const std::string& variant) {
    steps.push_back({std::move(name), size, is_whole,
                     is_whole ? value_text(total.metric, size) : amount_text(total.metric, size),
                     exact_text(total.metric, size), std::nullopt, variant});
  };
  add(whole.reference, *whole.reference_median, true, whole.reference);
  double rest = *whole.difference;
  for (const AblationRow& row : table.rows) {
    const AblationCell& cell = is_added ? row.added_alone : row.left_out;
    if (!cell.arm || !cell.difference) continue;
    const double size = is_added ? *cell.difference : -*cell.difference;
    rest -= size;
    add(row.optimization, size, false, "");
  }
  add("interaction", rest, false, "");
  add(whole.arm.value_or("–"), *whole.reference_median + *whole.difference, true,
      whole.arm.value_or(""));
  Table shown = waterfall(steps);
  return shown;
}

Choice waterfalls_of(const JobFacts& job, const std::vector<AblationTable>& tables) {
  Choice choice{"Each switch", {{"added alone", {}}, {"removed alone", {}}}};
  for (const AblationTable& table : tables) {
    if (table.total->phase) continue;
    for (const bool is_added : {true, false}) {
      Table shown = waterfall_of(table, is_added);
      if (shown.rows.empty()) continue;
      shown.caption = quantity(job, table.total->role, table.total->metric);
      choice.options[is_added ? 0 : 1].parts.push_back({std::move(shown)});
    }
  }
  return choice;
}

}  // namespace

Section ablation_section(const ReportModel& model) {
  Section section{"ablation", "Ablation: which switch matters", {}};
  const std::vector<AblationTable> tables = tables_of(model.results);
  if (tables.empty()) return section;
  const JobFacts& job = model.results.job;
  section.add(sentences_of(model.results));
  section.add(
      Paragraph{Text("Every number is of a variant that was measured, against its reference "
                     "in the same blocks: a switch added alone (less memory is a saving), a "
                     "switch removed alone (more memory is a saving lost). These verdicts "
                     "decide no gate.",
                     Tone::muted)});
  section.add(waterfalls_of(job, tables), Medium::page);
  std::vector<Part> phases;
  for (const AblationTable& table : tables) {
    if (table.total->phase)
      phases.push_back({table_of(job, table)});
    else
      section.add(table_of(job, table));
  }
  if (!phases.empty())
    section.add(
        Fold{fmt::format("The peak of every phase: {}", format_count(phases.size(), "table")),
             std::move(phases)});
  return section;
}

}  // namespace memduel
