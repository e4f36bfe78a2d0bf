#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "escape.h"
#include "html_page.h"
#include "reports/pages.h"
#include "util/text.h"
#include "words.h"

namespace memduel {
namespace {

constexpr std::array kOutcomes = {SuiteOutcome::passed, SuiteOutcome::ungated,
                                  SuiteOutcome::failed, SuiteOutcome::undecided,
                                  SuiteOutcome::broken, SuiteOutcome::waiting};

constexpr const char* kStyle = R"(
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #59636e; --line: #d1d9e0; --page: #fff;
  --better: #116329; --worse: #a40e26; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6edf3; --soft: #9198a1; --line: #3d444d; --page: #0d1117; --better: #4ac26b; --worse: #ff7b72; } }
body { margin: 2rem auto; max-width: 76rem; padding: 0 1rem; background: var(--page); color: var(--ink);
  font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.6rem; margin: 0; }
p { margin: .3rem 0 1.2rem; color: var(--soft); }
div { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: left; vertical-align: top; padding: .5rem .75rem .5rem 0; border-bottom: 1px solid var(--line); }
th { font-weight: 600; }
tbody th { white-space: nowrap; }
table + p, div + p { margin-top: 1rem; }
td small { display: block; color: var(--soft); }
.improved, .passed { color: var(--better); }
.regressed, .failed, .broken { color: var(--worse); }
a { color: inherit; }
)";

std::string css_class(SuiteOutcome outcome) {
  switch (outcome) {
    case SuiteOutcome::passed:
      return "passed";
    case SuiteOutcome::failed:
      return "failed";
    case SuiteOutcome::broken:
      return "broken";
    default:
      return "open";
  }
}

/// For readers without colours.
const char* sign(const SuiteCell& cell) {
  switch (cell.verdict) {
    case Verdict::improved:
    case Verdict::regressed:
    case Verdict::changed:
      return cell.more ? "▲ " : "▼ ";
    case Verdict::unchanged:
      return "= ";
    default:
      return "? ";
  }
}

SuiteOutcome outcome_of(const Results& results) {
  switch (results.overall.outcome) {
    case OverallOutcome::failed:
      return SuiteOutcome::failed;
    case OverallOutcome::inconclusive:
      return SuiteOutcome::undecided;
    case OverallOutcome::not_measured:
      return SuiteOutcome::broken;
    case OverallOutcome::no_gates:
      return SuiteOutcome::ungated;
    case OverallOutcome::passed:
      break;
  }
  return SuiteOutcome::passed;
}

/// Why it could not be measured: the whole, or the first gate.
std::string problem_of(const Results& results) {
  if (!results.overall.nothing.empty()) return results.overall.nothing;
  const auto gate = std::ranges::find_if(
      results.gates, [](const GateResult& one) { return one.not_measured && !one.advisory; });
  return gate == results.gates.end() ? "" : fmt::format("{}: {}", gate->name(), gate->reason);
}

std::vector<std::string> quantities(const SuiteIndex& index) {
  std::vector<std::string> columns;
  for (const SuiteEntry& entry : index.entries)
    for (const SuiteLine& line : entry.lines)
      for (const SuiteCell& cell : line.cells)
        if (std::ranges::find(columns, cell.quantity) == columns.end())
          columns.push_back(cell.quantity);
  return columns;
}

std::string name_cell(const SuiteEntry& entry) {
  std::string name = escape_markup(entry.name);
  if (entry.lines.empty() && entry.outcome != SuiteOutcome::passed) return name;
  return fmt::format("<a href=\"{0}/report.html\">{0}</a>", name);
}

std::string outcome_cell(const SuiteEntry& entry) {
  std::string text =
      fmt::format("<span class=\"{}\">{}</span>", css_class(entry.outcome), word(entry.outcome));
  if (entry.seconds) text += fmt::format("<small>{}</small>", format_seconds(*entry.seconds));
  return text;
}

std::string line_cells(const SuiteLine& line, const std::vector<std::string>& columns) {
  std::string text = fmt::format("<td>{}<small>vs. {}</small></td>", escape_markup(line.candidate),
                                 escape_markup(line.baseline));
  for (const std::string& column : columns) {
    const auto cell = std::ranges::find(line.cells, column, &SuiteCell::quantity);
    if (cell == line.cells.end()) {
      text += "<td></td>";
      continue;
    }
    text += fmt::format("<td class=\"{}\">{}{}<small>{}</small></td>", to_name(cell->verdict),
                        sign(*cell), escape_markup(cell->effect), to_name(cell->verdict));
  }
  return text + fmt::format("<td>{}</td>", escape_markup(line.models));
}

std::string rows_of(const SuiteEntry& entry, const std::vector<std::string>& columns) {
  const std::string head =
      fmt::format("<th scope=\"row\">{}</th><td>{}</td>", name_cell(entry), outcome_cell(entry));
  if (entry.lines.empty())
    return fmt::format("<tr>{}{}</tr>\n", head,
                       fmt::format("<td colspan=\"{}\"><small>{}</small></td>", columns.size() + 2,
                                   escape_markup(entry.problem)));
  std::string rows;
  for (const SuiteLine& line : entry.lines) {
    const bool is_first = &line == &entry.lines.front();
    rows += fmt::format("<tr>{}{}</tr>\n", is_first ? head : "<th></th><td></td>",
                        line_cells(line, columns));
  }
  return rows;
}

}  // namespace

std::string word(SuiteOutcome outcome) {
  switch (outcome) {
    case SuiteOutcome::passed:
      return "gates passed";
    case SuiteOutcome::ungated:
      return "no gates";
    case SuiteOutcome::failed:
      return "gate failed";
    case SuiteOutcome::undecided:
      return "inconclusive";
    case SuiteOutcome::broken:
      return "could not be measured";
    case SuiteOutcome::waiting:
      break;
  }
  return "not run yet";
}

SuiteEntry suite_entry(const std::string& name, const Results& results) {
  SuiteEntry entry;
  entry.name = name;
  entry.outcome = outcome_of(results);
  entry.exit_code = results.overall.exit_code;
  entry.problem = problem_of(results);
  for (const Comparison& row : results.comparisons) {
    if (!row.is_asked()) continue;
    auto line = std::ranges::find(entry.lines, row.candidate, &SuiteLine::candidate);
    if (line == entry.lines.end()) {
      entry.lines.push_back({row.candidate, row.baseline, {}, {}});
      line = entry.lines.end() - 1;
    }
    line->cells.push_back({quantity(results.job, row.role, row.metric),
                           change_text(row) + " (" + medians_text(row) + ")", row.verdict,
                           row.has_more()});
  }
  for (const Equivalence& pair : results.equivalence) {
    const auto line = std::ranges::find(entry.lines, pair.candidate, &SuiteLine::candidate);
    if (line != entry.lines.end()) line->models = model_sentence(pair);
  }
  return entry;
}

std::string suite_summary(const SuiteIndex& index) {
  std::vector<std::string> parts;
  for (const SuiteOutcome outcome : kOutcomes) {
    const auto count = std::ranges::count(index.entries, outcome, &SuiteEntry::outcome);
    if (count > 0) parts.push_back(fmt::format("{}: {}", word(outcome), count));
  }
  return fmt::format("{}; {}", format_count(index.entries.size(), "experiment"),
                     fmt::join(parts, ", "));
}

std::string render_suite_page(const SuiteIndex& index) {
  const std::vector<std::string> columns = quantities(index);
  std::string head;
  for (const std::string& column : columns)
    head += fmt::format("<th scope=\"col\">{}</th>", escape_markup(column));
  std::string rows;
  for (const SuiteEntry& entry : index.entries) rows += rows_of(entry, columns);
  return fmt::format(
      R"(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="memduel">
<title>{name} · memduel</title>
<style>{style}</style>
</head>
<body>
<h1>{name}</h1>
<p>{summary} · {date} · {machine}</p>
<div><table>
<thead><tr><th scope="col">experiment</th><th scope="col">outcome</th><th scope="col">variant</th>{head}<th scope="col">output</th></tr></thead>
<tbody>
{rows}</tbody>
</table></div>
<p>▼ less memory or time than the baseline, ▲ more, = unchanged, ? inconclusive. Each experiment's report has the trials, the causes and the gates.</p>
</body>
</html>
)",
      fmt::arg("digest", base64(sha256(kStyle))), fmt::arg("name", escape_markup(index.name)),
      fmt::arg("style", kStyle), fmt::arg("summary", suite_summary(index)),
      fmt::arg("date", escape_markup(index.date)),
      fmt::arg("machine", escape_markup(index.machine)), fmt::arg("head", head),
      fmt::arg("rows", rows));
}

nlohmann::json suite_json(const SuiteIndex& index) {
  nlohmann::json entries = nlohmann::json::array();
  for (const SuiteEntry& entry : index.entries) {
    nlohmann::json lines = nlohmann::json::array();
    for (const SuiteLine& line : entry.lines) {
      nlohmann::json cells = nlohmann::json::array();
      for (const SuiteCell& cell : line.cells)
        cells.push_back({{"quantity", cell.quantity},
                         {"effect", cell.effect},
                         {"verdict", to_name(cell.verdict)}});
      lines.push_back({{"candidate", line.candidate},
                       {"baseline", line.baseline},
                       {"rows", std::move(cells)},
                       {"models", line.models}});
    }
    nlohmann::json one = {{"name", entry.name},
                          {"outcome", word(entry.outcome)},
                          {"exit_code", entry.exit_code},
                          {"problem", entry.problem},
                          {"variants", std::move(lines)}};
    if (entry.seconds) one["seconds"] = *entry.seconds;
    entries.push_back(std::move(one));
  }
  return {{"schema", kSuiteSchema},
          {"name", index.name},
          {"date", index.date},
          {"machine", index.machine},
          {"experiments", std::move(entries)}};
}

std::string render_suite_text(const SuiteIndex& index) {
  std::string text = fmt::format("{} · {}\n\n", index.name, suite_summary(index));
  for (const SuiteEntry& entry : index.entries) {
    text += fmt::format("{}: {}\n", entry.name, word(entry.outcome));
    if (!entry.problem.empty()) text += fmt::format("  {}\n", entry.problem);
    for (const SuiteLine& line : entry.lines)
      for (const SuiteCell& cell : line.cells)
        text +=
            fmt::format("  {}{}: {}, {}\n", sign(cell), line.candidate, cell.quantity, cell.effect);
  }
  return text;
}

}  // namespace memduel
