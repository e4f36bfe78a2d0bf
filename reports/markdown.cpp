#include "reports/markdown.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cctype>
#include <cmath>
#include <vector>

#include "base/text.h"
#include "reports/ablation_tables.h"
#include "reports/escape.h"
#include "reports/words.h"

namespace memduel {
namespace {

/// Of what is not folded.
constexpr size_t kMostLines = 15;
constexpr size_t kTopStacks = 3;
constexpr size_t kMostStacks = 5;
constexpr size_t kMostCallers = 3;

/// Letters, digits and single dashes: nothing that could end an HTML comment.
std::string marker_name(const std::string& title) {
  std::string name;
  for (const char c : title) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.')
      name += c;
    else if (!name.empty() && name.back() != '-')
      name += '-';
  }
  return name;
}

const char* icon(Verdict verdict) {
  switch (verdict) {
    case Verdict::improved:
      return "✅";
    case Verdict::regressed:
      return "❌";
    case Verdict::unchanged:
      return "➖";
    case Verdict::inconclusive:
      break;
  }
  return "❔";
}

std::string counted(size_t n, const char* noun) {
  return fmt::format("{} {}{}", n, noun, n == 1 ? "" : "s");
}

/// The first screen: growth, gates, what they cost, then what weakens the claim.
std::vector<std::string> sentences(const ReportModel& model) {
  std::vector<std::string> lines;
  for (const std::string& sentence : model.growth)
    lines.push_back("- " + escape_markdown(sentence));
  for (const Headline& h : model.headlines) {
    const std::string gate = h.outcome ? fmt::format(" (gate {})", word(*h.outcome)) : "";
    lines.push_back(fmt::format("- {} {}{}", icon(h.verdict), escape_markdown(h.sentence), gate));
  }
  for (const std::string& sentence : model.ablation)
    lines.push_back("- " + escape_markdown(sentence));
  for (const SideEffect& effect : model.side_effects)
    lines.push_back("- " + escape_markdown(effect.sentence));
  for (const std::string& sentence : model.lower_bounds)
    lines.push_back("- " + escape_markdown(sentence));
  return lines;
}

/// The stacks of the first difference, which the first gate asks about.
std::vector<std::string> stacks(const ReportModel& model) {
  std::vector<std::string> lines;
  if (model.differences.empty()) return lines;
  const DifferenceTable& table = model.differences.front();
  for (std::size_t i = 0; i < table.rows.size() && i < kTopStacks; ++i) {
    const DifferenceRow& row = table.rows[i];
    const std::string phase = row.phase.empty() ? "" : ", phase " + row.phase;
    lines.push_back(fmt::format("- {}: {} ({}), {} of what differs{} (profile trial)",
                                escape_markdown(table.role), row.more ? "MORE" : "LESS", row.amount,
                                row.share, escape_markdown(phase + ", in " + row.function)));
  }
  return lines;
}

/// Everything that is read without unfolding.
std::string head(const ReportModel& model) {
  std::vector<std::string> lines = {fmt::format("<!-- memduel:{} -->", marker_name(model.title)),
                                    "### memduel: " + escape_markdown(model.title)};
  if (!model.progress.empty()) lines.push_back("- " + escape_markdown(model.progress));
  std::vector<std::string> end = stacks(model);
  const auto& warnings = model.results.warnings;
  if (!warnings.empty())
    end.insert(end.begin(),
               fmt::format("- ⚠️ {}; the first: {}", counted(warnings.size(), "warning"),
                           escape_markdown(warnings.front().message)));
  end.emplace_back();
  end.push_back(fmt::format("Reproduce: `{}`", model.reproduce));
  end.emplace_back();
  std::vector<std::string> said = sentences(model);
  const std::size_t room = kMostLines - lines.size() - end.size();
  if (said.size() > room) {
    const std::size_t rest = said.size() - room + 1;
    said.resize(room - 1);
    said.push_back(fmt::format("- … and {} more in the report", rest));
  }
  lines.insert(lines.end(), said.begin(), said.end());
  lines.insert(lines.end(), end.begin(), end.end());
  return fmt::format("{}\n", fmt::join(lines, "\n"));
}

std::string change_cell(const Comparison& c) {
  if (c.ratio) return format_change(*c.ratio);
  return c.difference ? format_metric(c.metric, c.difference) : "-";
}

std::string interval_cell(const Comparison& c) {
  if (!c.ci_low || !c.ci_high) return "-";
  if (c.ratio) return format_change(*c.ci_low) + " to " + format_change(*c.ci_high);
  return format_metric(c.metric, c.ci_low) + " to " + format_metric(c.metric, c.ci_high);
}

std::string table(const ReportModel& model) {
  std::string out =
      fmt::format("<details><summary>All {} rows</summary>\n\n", model.results.comparisons.size());
  out +=
      "| candidate | role | metric | baseline | candidate | change | 95 % interval | verdict |\n";
  out += "| --- | --- | --- | ---: | ---: | ---: | ---: | --- |\n";
  for (const Comparison& c : model.results.comparisons)
    out += fmt::format(
        "| {} | {} | {}{} | {} | {} | {} | {} | {} |\n", escape_markdown(c.candidate),
        escape_markdown(c.role), escape_markdown(c.metric), c.gate ? " (gate)" : "",
        format_metric(c.metric, c.baseline_median), format_metric(c.metric, c.candidate_median),
        change_cell(c), interval_cell(c), word(c.verdict));
  return out + "\n</details>\n";
}

std::string differences(const ReportModel& model) {
  if (model.differences.empty()) return {};
  std::string out = "\n<details><summary>Where it differs, stack by stack</summary>\n";
  for (const DifferenceTable& table : model.differences) {
    out += fmt::format("\n#### Where: {}\n\n", escape_markdown(table.title));
    if (!table.rows.empty())
      out +=
          "| difference | of all | function | called by | phase |\n| ---: | ---: | --- | --- | --- "
          "|\n";
    for (std::size_t i = 0; i < table.rows.size() && i < kMostStacks; ++i) {
      const DifferenceRow& row = table.rows[i];
      std::string callers;
      for (std::size_t k = 0; k < row.callers.size() && k < kMostCallers; ++k)
        callers += (k == 0 ? "" : " ← ") + escape_markdown(row.callers[k]);
      out += fmt::format("| {} | {} | {} | {} | {} |\n", row.amount, row.share,
                         escape_markdown(row.function), callers, escape_markdown(row.phase));
    }
    out += fmt::format("\nFrom profile trials; {}.\n", escape_markdown(table.remark));
  }
  return out + "\n</details>\n";
}

std::string ablation_cell(const AblationCell& cell, const std::string& metric) {
  if (!cell.arm || !cell.difference) return escape_markdown(cell.reason);
  const auto shown = [&](std::optional<double> end) {
    if (!end) return std::string("?");
    return cell.ratio ? format_change(*end) : format_metric(metric, end);
  };
  std::string text = format_metric(metric, cell.difference);
  if (cell.ratio) text += ", " + format_change(*cell.ratio);
  return fmt::format("{} ({} to {}, {} blocks)", text, shown(cell.ci_low), shown(cell.ci_high),
                     cell.n);
}

std::string ablation_sum(const char* name, const std::string& metric, std::optional<double> added,
                         std::optional<double> left_out) {
  return fmt::format("| {} | {} | {} | |\n", name, format_metric(metric, added),
                     format_metric(metric, left_out ? std::optional(-*left_out) : std::nullopt));
}

std::string ablation_table(const AblationTable& table) {
  const AblationTotal& total = *table.total;
  std::string out = fmt::format(
      "\n{} {}{}\n\n| switch | added to {} | left out of {} | effect |\n| --- | ---: | ---: | --- "
      "|\n",
      escape_markdown(total.role), escape_markdown(total.metric),
      total.phase ? ", phase " + escape_markdown(*total.phase) : "",
      escape_markdown(total.whole.reference), escape_markdown(total.whole.arm.value_or("-")));
  for (const AblationRow& row : table.rows)
    out += fmt::format("| {} | {} | {} | {} |\n", escape_markdown(row.optimization),
                       ablation_cell(row.added_alone, row.metric),
                       ablation_cell(row.left_out, row.metric), word(row.effect));
  return out +
         ablation_sum("all of them", total.metric, total.whole.difference, total.whole.difference) +
         ablation_sum("sum of the above", total.metric, total.added_alone.sum, total.left_out.sum) +
         ablation_sum("interaction", total.metric, total.added_alone.remainder,
                      total.left_out.remainder);
}

std::string ablation(const ReportModel& model) {
  const std::vector<AblationTable> tables = ablation_tables(model.results);
  if (tables.empty()) return {};
  std::string out =
      fmt::format("\n<details><summary>Ablation: {} rows, per role and phase</summary>\n",
                  model.results.ablation.size());
  for (const AblationTable& table : tables) out += ablation_table(table);
  return out + "\n</details>\n";
}

std::string profiles(const ReportModel& model) {
  const ProfileList& list = model.profiles;
  const std::string agreement = agreement_sentence(model.results);
  if (list.commands.empty() && list.sentences.empty() && agreement.empty()) return {};
  std::string out =
      "\n<details><summary>Profiles, in the run's directory and outside the "
      "statistics</summary>\n\n";
  for (const std::string& sentence : list.sentences) out += "- " + escape_markdown(sentence) + "\n";
  if (!agreement.empty()) out += "- " + escape_markdown(agreement) + "\n";
  if (!list.commands.empty()) out += "\n";
  for (const std::string& command : list.commands) out += "    " + command + "\n";
  return out + "\n</details>\n";
}

}  // namespace

std::string render_markdown(const ReportModel& model) {
  std::string out = head(model);
  if (!model.results.comparisons.empty()) out += table(model);
  return out + differences(model) + ablation(model) + profiles(model);
}

}  // namespace memduel
