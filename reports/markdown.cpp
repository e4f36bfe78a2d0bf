#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ablation_tables.h"
#include "escape.h"
#include "markdown_text.h"
#include "reports/text_formats.h"
#include "util/text.h"
#include "words.h"

namespace memduel {
namespace {

/// Of what is not folded.
constexpr size_t kMostLines = 20;
constexpr size_t kMostStacks = 5;
constexpr size_t kMostCallers = 3;
/// GitHub takes 65,536 characters; of these the table of all rows gets at most half.
constexpr std::size_t kMostBytes = 65'000;
constexpr std::size_t kMostOfTable = kMostBytes / 2;

bool got_worse(const Headline& h) {
  return h.verdict == Verdict::regressed || h.fails;
}

std::string own_line(const Headline& h) {
  const std::string gate = h.gate.empty() ? "" : fmt::format(" ({})", h.gate);
  return fmt::format("- {} {}{}", icon(h.verdict), markdown_line(h.sentence.text()), gate);
}

/// All candidates of one gate metric, the best first.
std::string shared_line(const ReportModel& model, const std::vector<const Headline*>& headlines) {
  std::string text = quantity(model.results.job, headlines[0]->role, headlines[0]->metric) +
                     ", against " + model.results.baseline + ": ";
  for (std::size_t i = 0; i < headlines.size(); ++i) {
    const Headline& h = *headlines[i];
    if (const Comparison* row = model.results.row(h.candidate, h.role, h.metric))
      text += (i == 0 ? "" : ", ") + row->candidate + " " + short_effect(*row);
  }
  const bool passed = std::ranges::all_of(
      headlines, [](const Headline* h) { return h->outcome == GateOutcome::passed; });
  if (passed) text += " (gates passed)";
  return fmt::format("- {} {}", icon(headlines[0]->verdict), markdown_line(text));
}

/// In the order of the first screen: of several candidates what did not get worse shares a line per
/// metric.
std::vector<std::string> headline_lines_of(const ReportModel& model) {
  std::vector<std::string> lines;
  std::vector<std::vector<const Headline*>> shared;
  for (const Headline& h : model.headlines) {
    if (got_worse(h) || model.best.empty()) {
      lines.push_back(own_line(h));
      continue;
    }
    const auto same = std::ranges::find_if(shared, [&](const auto& group) {
      return group[0]->role == h.role && group[0]->metric == h.metric;
    });
    if (same == shared.end())
      shared.push_back({&h});
    else
      same->push_back(&h);
  }
  for (const auto& group : shared) lines.push_back(shared_line(model, group));
  return lines;
}

bool got_worse(const SideEffect& effect) {
  return effect.verdict == Verdict::regressed;
}

/// Gates that no headline shows and that did not fail; many of them share a line.
std::vector<std::string> gate_lines(const ReportModel& model) {
  constexpr std::size_t kMostOwnLines = 2;
  std::vector<std::string> lines;
  std::vector<std::pair<std::string_view, std::size_t>> words;
  for (const SideEffect& effect : model.side_effects) {
    if (!effect.gate || got_worse(effect)) continue;
    const std::string_view word = effect.gate->word();
    const auto known = std::ranges::find(words, word, [](const auto& one) { return one.first; });
    if (known == words.end())
      words.emplace_back(word, 1);
    else
      ++known->second;
    lines.push_back("- " + markdown_line(effect.sentence));
  }
  if (lines.size() <= kMostOwnLines) return lines;
  std::vector<std::string> counts;
  for (const auto& [word, count] : words) counts.push_back(fmt::format("{} {}", count, word));
  return {fmt::format("- {} more gates: {}", lines.size(), fmt::join(counts, ", "))};
}

/// The first screen: its rows, growth, other gates, what they cost.
std::vector<std::string> sentences(const ReportModel& model) {
  std::vector<std::string> lines = headline_lines_of(model);
  for (const SideEffect& effect : model.side_effects)
    if (got_worse(effect)) lines.push_back("- ❌ " + markdown_line(effect.sentence));
  for (const Sentence& sentence : model.growth)
    lines.push_back("- " + markdown_line(sentence.text()));
  for (const std::string& sentence : model.ablation)
    lines.push_back("- " + markdown_line(sentence));
  for (std::string& gate : gate_lines(model)) lines.push_back(std::move(gate));
  for (const SideEffect& effect : model.side_effects)
    if (effect.topic != Topic::gate && !got_worse(effect))
      lines.push_back("- " + markdown_line(effect.sentence));
  for (const std::string& sentence : model.lower_bounds)
    lines.push_back("- " + markdown_line(sentence));
  return lines;
}

/// What was compared.
std::string arms(const ReportModel& model) {
  std::vector<std::string> parts;
  for (const ComparedArm& arm : model.compared)
    parts.push_back(fmt::format("{}: {}", markdown_cell(arm.name), markdown_code(arm.words)));
  return fmt::format("- {}", fmt::join(parts, "; "));
}

/// What changed most and what to do next, as on the page's first screen.
std::vector<std::string> causes(const ReportModel& model) {
  std::vector<std::string> lines;
  std::string of;
  for (const Cause& cause : model.causes) {
    const std::string part =
        fmt::format("{} {} {}", cause.more ? "▲" : "▼", cause.amount, markdown_cell(cause.name));
    if (!lines.empty() && cause.of == of)
      lines.back() += "; " + part;
    else
      lines.push_back(fmt::format("- What changed most in {}, by profile trials: {}",
                                  markdown_cell(cause.of), part));
    of = cause.of;
  }
  if (model.next_step) {
    const auto& [sentence, command] = *model.next_step;
    lines.push_back("- " + markdown_line(sentence) +
                    (command.empty() ? "" : fmt::format(" `{}`", without_fence(command))));
  }
  return lines;
}

/// Everything that is read without unfolding.
std::string head(const ReportModel& model) {
  std::vector<std::string> lines = {fmt::format("<!-- memduel:{} -->", marker_name(model.title)),
                                    "### memduel: " + markdown_line(model.title)};
  if (!model.overall.empty()) lines.push_back(fmt::format("**{}**", markdown_line(model.overall)));
  if (!model.progress.empty()) lines.push_back("- " + markdown_line(model.progress));
  if (!model.compared.empty()) lines.push_back(arms(model));
  std::vector<std::string> end = causes(model);
  const auto& warnings = model.results.warnings;
  if (!warnings.empty())
    end.push_back(fmt::format("- ⚠️ {}; the first: {}", format_count(warnings.size(), "warning"),
                              markdown_line(warnings.front().message)));
  const std::vector<std::string> strips = dot_strips(model);
  if (!strips.empty()) {
    end.emplace_back("```text");
    for (const std::string& strip : strips) end.push_back(without_fence(strip));
    end.emplace_back("```");
  }
  end.insert(end.end(), {"", fmt::format("Reproduce: `{}`", model.reproduce), ""});
  std::vector<std::string> said = sentences(model);
  const std::size_t taken = lines.size() + end.size();
  const std::size_t room = taken < kMostLines ? kMostLines - taken : 1;
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
  return c.difference ? signed_metric(c.metric, *c.difference) : "-";
}

/// One with an open end is none, as on the page.
std::string interval_cell(const Comparison& c) {
  if (!c.ci_low || !c.ci_high) return "-";
  const auto end = [&](double value) {
    return c.ratio ? format_change(value) : signed_metric(c.metric, value);
  };
  constexpr double kUsual = 0.95;
  const std::string confidence =
      std::abs(c.confidence - kUsual) < 1e-9 ? "" : fmt::format(" ({:.3g}%)", 100 * c.confidence);
  return format_interval(end(*c.ci_low), end(*c.ci_high)) + confidence;
}

std::string table_row(const Comparison& c, bool has_gate) {
  return fmt::format("| {} | {} | {}{} | {} | {} | {} | {} | {} |\n", markdown_cell(c.candidate),
                     markdown_cell(c.role), markdown_cell(c.metric), has_gate ? " (gate)" : "",
                     with_minus(format_metric(c.metric, c.baseline_median)),
                     with_minus(format_metric(c.metric, c.candidate_median)),
                     with_minus(change_cell(c)), with_minus(interval_cell(c)), to_name(c.verdict));
}

/// Gate rows first, so that they are there however many rows there are.
std::string table(const ReportModel& model) {
  std::vector<const Comparison*> rows;
  for (const Comparison& c : model.results.comparisons)
    if (c.has_values()) rows.push_back(&c);
  std::ranges::stable_sort(rows, [](const Comparison* a, const Comparison* b) {
    return a->is_asked() && !b->is_asked();
  });
  std::string body;
  std::size_t shown = 0;
  for (const Comparison* row : rows) {
    const bool has_gate = std::ranges::any_of(
        model.results.gates, [&](const GateResult& gate) { return gate.asks_about(*row); });
    const std::string text = table_row(*row, has_gate);
    if (body.size() + text.size() > kMostOfTable) break;
    body += text;
    ++shown;
  }
  const std::string count = shown < rows.size() ? fmt::format("{} of {} rows", shown, rows.size())
                            : shown == 1        ? "The only row"
                                                : fmt::format("All {} rows", shown);
  const std::string rest =
      shown == rows.size() ? ""
                           : fmt::format("\n{} left out here; report.html has all.\n",
                                         format_count(rows.size() - shown, "row is", "rows are"));
  return fmt::format(
      "<details><summary>{}</summary>\n\n"
      "| candidate | role | metric | baseline | candidate | change | 95% interval | verdict |\n"
      "| --- | --- | --- | ---: | ---: | ---: | ---: | --- |\n{}{}\n</details>\n",
      count, body, rest);
}

std::string differences(const ReportModel& model) {
  if (model.differences.empty()) return {};
  std::string out = "\n<details><summary>Where it differs, stack by stack</summary>\n";
  for (const DifferenceTable& table : model.differences) {
    out += fmt::format("\n#### Where: {}\n\n", escape_markdown(table.title));
    if (!table.rows.empty())
      out +=
          "| difference | of what differs | function | called by | phase |\n"
          "| ---: | ---: | --- | --- | --- |\n";
    for (std::size_t i = 0; i < table.rows.size() && i < kMostStacks; ++i) {
      const DifferenceRow& row = table.rows[i];
      std::string callers;
      for (std::size_t k = 0; k < row.callers.size() && k < kMostCallers; ++k)
        callers += (k == 0 ? "" : " ← ") + markdown_cell(row.callers[k]);
      out += fmt::format("| {} | {} | {} | {} | {} |\n", row.amount, row.share,
                         markdown_cell(row.function), callers, markdown_cell(row.phase));
    }
    out += fmt::format("\nFrom profile trials; {}.\n", escape_markdown(table.remark));
  }
  return out + "\n</details>\n";
}

std::string resident(const ReportModel& model) {
  if (model.resident.empty()) return {};
  std::string out =
      "\n<details><summary>From one peak to the other, by owner of the memory</summary>\n";
  for (const ResidentTable& table : model.resident) {
    out += fmt::format("\n#### {}\n\n| difference | whose |\n| ---: | --- |\n",
                       escape_markdown(table.title));
    for (const WaterfallStep& step : table.steps)
      out += fmt::format("| {} | {} |\n", step.amount, markdown_cell(step.words));
    out += "\n";
    for (const std::string& remark : table.remarks)
      out += fmt::format("- {}\n", escape_markdown(remark));
  }
  return out + "\n</details>\n";
}

std::string part_cell(const PartPeak& part, std::size_t arm) {
  if (!part.bytes[arm]) return "-";
  const auto ratio = arm > 0 ? part.ratio(arm) : std::nullopt;
  return format_bytes(*part.bytes[arm]) + (ratio ? ", " + with_minus(format_change(*ratio)) : "");
}

std::string parts(const ReportModel& model) {
  if (model.part_peaks.empty()) return {};
  std::string out = "\n<details><summary>Peak by part</summary>\n";
  for (const PartPeaks& peaks : model.part_peaks) {
    std::string rule = "| --- |";
    out += "\n| " + markdown_cell(peaks.role) + " |";
    for (const std::string& arm : peaks.arms) {
      out += " " + markdown_cell(arm) + " |";
      rule += " ---: |";
    }
    out += "\n" + rule + "\n";
    for (const PartPeak& part : peaks.parts) {
      out += "| " + part.name + " |";
      for (std::size_t arm = 0; arm < peaks.arms.size(); ++arm)
        out += " " + part_cell(part, arm) + " |";
      out += "\n";
    }
  }
  return out + fmt::format("\n{}\n\n</details>\n", kPartPeaksRemark);
}

std::string ablation_cell(const AblationCell& cell, const std::string& metric) {
  if (!cell.arm || !cell.difference) return escape_markdown(cell.reason);
  const auto shown = [&](std::optional<double> end) {
    if (!end) return std::string("?");
    return cell.ratio ? format_change(*end) : format_metric(metric, end);
  };
  std::string text = format_metric(metric, cell.difference);
  if (cell.ratio) text += ", " + format_change(*cell.ratio);
  return fmt::format("{} ({}, {})", text, format_interval(shown(cell.ci_low), shown(cell.ci_high)),
                     format_count(static_cast<std::size_t>(cell.n), "block"));
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
         ablation_sum(kAllOfThem, total.metric, total.whole.difference, total.whole.difference) +
         ablation_sum(kSumOfTheAbove, total.metric, total.added_alone.sum, total.left_out.sum) +
         ablation_sum(kInteraction, total.metric, total.added_alone.remainder,
                      total.left_out.remainder);
}

std::string ablation(const ReportModel& model) {
  const std::vector<AblationTable> tables = ablation_tables(model.results);
  if (tables.empty()) return {};
  std::string out = fmt::format("\n<details><summary>Ablation: {}, per role and phase</summary>\n",
                                format_count(model.results.ablation.size(), "row"));
  for (const AblationTable& table : tables) out += ablation_table(table);
  return out + "\n</details>\n";
}

std::string profiles(const ReportModel& model) {
  const ProfileList& list = model.profiles;
  if (list.commands.empty() && list.sentences.empty()) return {};
  std::string out =
      "\n<details><summary>Profiles, in the run's directory and outside the "
      "statistics</summary>\n\n";
  for (const std::string& sentence : list.sentences) out += "- " + escape_markdown(sentence) + "\n";
  if (!list.commands.empty()) out += "\n";
  for (const std::string& command : list.commands) out += "    " + command + "\n";
  return out + "\n</details>\n";
}

}  // namespace

std::string render_markdown(const ReportModel& model) {
  std::string out = head(model);
  if (!model.results.comparisons.empty()) out += table(model);
  std::string left_out;
  for (const auto& [name, text] :
       {std::pair("the peaks by part", parts(model)),
        std::pair("the owners of resident memory", resident(model)),
        std::pair("the stacks that differ", differences(model)),
        std::pair("the ablation", ablation(model)), std::pair("the profiles", profiles(model))}) {
    if (out.size() + text.size() <= kMostBytes)
      out += text;
    else
      left_out += (left_out.empty() ? "" : ", ") + std::string(name);
  }
  if (left_out.empty()) return out;
  return out + fmt::format("\nLeft out, since it would be too long here: {}; see report.html.\n",
                           left_out);
}

}  // namespace memduel
