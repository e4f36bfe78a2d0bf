// Memory from round to round: what of it the first screen states, every series, and the stacks that
// grow.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>
#include <utility>

#include "model/metric_catalogue.h"
#include "sections/cells.h"
#include "sections/repeated_rows.h"
#include "sections/sections.h"
#include "util/text.h"
#include "verdict/questions.h"
#include "words.h"

namespace memduel {
namespace {

using GrowthOfRole = std::vector<const Growth*>;  ///< of every variant

/// Whether memory goes up from round to round, though it may not be known whether that goes on.
bool rises(const GrowthOfRole& role) {
  return std::ranges::any_of(role, [](const Growth* growth) {
    return growth->verdict == GrowthVerdict::growing ||
           (growth->verdict == GrowthVerdict::inconclusive && growth->ci_low.value_or(0) > 0);
  });
}

/// Likewise, by as much as the metric's margin.
bool rises_much(const GrowthOfRole& role) {
  const double margin = metric_info(role[0]->metric).absolute_margin;
  return rises(role) && std::ranges::any_of(role, [&](const Growth* growth) {
           return growth->slope.value_or(0) >= margin;
         });
}

/// Where some roles rise, the others and what rises by a trifle are in the table only.
void keep_what_rises(std::vector<GrowthOfRole>& roles) {
  for (const auto& tells : {rises_much, rises}) {
    if (std::ranges::none_of(roles, tells)) continue;
    std::erase_if(roles, [&](const GrowthOfRole& role) { return !tells(role); });
    return;
  }
}

/// Whether some variant grows in the role of `growth`, and none by an amount that matters: what is
/// known of the others is no news then.
bool grows_by_little(const Results& results, const Growth& growth) {
  bool grows = false;
  for (const Growth& other : results.growth) {
    if (other.role != growth.role || other.metric != growth.metric) continue;
    if (is_notable_growth(results, other)) return false;
    grows = grows || other.verdict == GrowthVerdict::growing;
  }
  return grows;
}

/// Growth that a gate asks about, else what is known of every role, per round where it has any; by
/// role. None in an ablation, which asks about switches.
std::vector<GrowthOfRole> growth_to_tell(const Results& results) {
  if (!results.ablation.empty()) return {};
  std::set<std::pair<std::string, std::string>> gated;
  for (const Comparison& c : results.comparisons)
    if (c.is_asked() && is_growth_metric(c.metric)) gated.emplace(c.role, c.metric);
  std::set<std::pair<std::string, std::string>> per_round;
  std::set<std::pair<std::string, std::string>> known;  // of one arm at least
  for (const Growth& growth : results.growth) {
    if (growth.metric == kRssGrowthPerRound) per_round.emplace(growth.arm, growth.role);
    if ((growth.verdict != GrowthVerdict::inconclusive || rises({&growth})) &&
        !is_median_of_group(results.job, growth.role) && !grows_by_little(results, growth))
      known.emplace(growth.role, growth.metric);
  }
  // A lone arm has no verdict; where it goes is told all the same, of all its roles together.
  const bool alone = results.arms.size() == 1;
  std::vector<GrowthOfRole> roles;
  for (const Growth& growth : results.growth) {
    if (growth.metric == kHeapGrowth) continue;  // in its table: a sentence for each role suffices
    const bool asked = gated.contains({growth.role, growth.metric});
    const bool repeated =
        growth.metric == kRssGrowthPerMinute && per_round.contains({growth.arm, growth.role});
    const bool tells = known.contains({growth.role, growth.metric});
    const bool goes = alone && growth.role == kTree && growth.slope;
    if (!asked && !(gated.empty() && (tells || goes) && !repeated)) continue;
    const auto role = std::ranges::find_if(roles, [&](const auto& of_role) {
      return of_role[0]->role == growth.role && of_role[0]->metric == growth.metric;
    });
    if (role == roles.end())
      roles.push_back({&growth});
    else
      role->push_back(&growth);
  }
  std::erase_if(roles, [&](const GrowthOfRole& role) {
    return std::ranges::all_of(role,
                               [&](const Growth* growth) { return is_repeated(results, *growth); });
  });
  if (gated.empty()) keep_what_rises(roles);
  return roles;
}

const char* unit_of(const Growth& growth) {
  return growth.metric.ends_with("_per_minute") ? "minute" : "round";
}

/// "+449.8 KiB per round (95% CI +24.7 to +874.8 KiB)".
std::string slope_words(const Growth& growth) {
  if (!growth.slope) return "unknown";
  const auto end = [&](double value) {
    return (value < 0 ? "−" : "+") + format_bytes(std::abs(value));
  };
  std::string text = fmt::format("{} per {}", end(*growth.slope), unit_of(growth));
  if (growth.ci_low && growth.ci_high)
    text += fmt::format(" (95% CI {})", format_interval(end(*growth.ci_low), end(*growth.ci_high)));
  return text;
}

/// "original grows: +0.78 GiB per round (…), reaches the memory limit of 24.0 GiB in round 31".
Text variant_words(const Growth& growth) {
  Text text(growth.arm + " ");
  switch (growth.verdict) {
    case GrowthVerdict::growing:
      text.add("grows", Tone::bad).add(": " + slope_words(growth));
      break;
    case GrowthVerdict::flat:
      text.add("does not grow");
      break;
    case GrowthVerdict::stepped:
      text.add("grows in single steps only");
      break;
    case GrowthVerdict::leveling_off:
      text.add("levels off after warm-up");
      break;
    case GrowthVerdict::inconclusive:
      text.add((growth.ci_low.value_or(0) > 0    ? "rises so far: "
                : growth.ci_high.value_or(0) < 0 ? "falls so far: "
                                                 : "is inconclusive: ") +
               slope_words(growth));
      if (growth.rounds_needed)
        text.add(fmt::format(
            "; whether that continues takes about {}",
            format_count(static_cast<std::size_t>(*growth.rounds_needed), unit_of(growth))));
      break;
  }
  if (growth.projection) text.add(", " + projection_words(*growth.projection));
  return text;
}

bool is_known(const GrowthOfRole& role) {
  return std::ranges::any_of(
      role, [](const Growth* growth) { return growth->verdict != GrowthVerdict::inconclusive; });
}

/// "inconclusive (original +954.0 KiB, optimized −252.0 KiB so far); about 67 rounds should
/// decide".
std::string open_words(const GrowthOfRole& role) {
  std::vector<std::string> estimates;
  int needed = 0;
  for (const Growth* growth : role) {
    needed = std::max(needed, growth->rounds_needed.value_or(0));
    if (growth->slope)
      estimates.push_back(fmt::format("{} {}{}", growth->arm, *growth->slope < 0 ? "−" : "+",
                                      format_bytes(std::abs(*growth->slope))));
  }
  std::string text = "inconclusive";
  if (!estimates.empty()) text += fmt::format(" ({} so far)", fmt::join(estimates, ", "));
  if (needed > 0)
    text += fmt::format("; about {} should decide it",
                        format_count(static_cast<std::size_t>(needed), unit_of(*role.front())));
  return text;
}

/// One line a role.
Text role_line(const Results& results, const GrowthOfRole& role) {
  Text text(fmt::format("{}: ", quantity(results.job, role.front()->role, role.front()->metric)));
  if (role.size() > 1 && !is_known(role)) return text.add(open_words(role) + ".");
  for (const Growth* growth : role) {
    if (growth != role.front()) text.add("; ");
    text.append(variant_words(*growth));
  }
  return text.add(".");
}

const char* sign_of(GrowthVerdict verdict) {
  switch (verdict) {
    case GrowthVerdict::flat:
      return "→ ";
    case GrowthVerdict::growing:
      return "↗ ";
    case GrowthVerdict::stepped:
      return "⌐ ";
    case GrowthVerdict::leveling_off:
      return "⤵ ";
    case GrowthVerdict::inconclusive:
      break;
  }
  return "? ";
}

Tone tone_of_growth(GrowthVerdict verdict) {
  return verdict == GrowthVerdict::growing ? Tone::bad
         : verdict == GrowthVerdict::flat  ? Tone::good
                                           : Tone::plain;
}

Row series_row(const ReportModel& model, const Growth& growth, const GrowthLine& line) {
  Row row;
  row.key = growth.arm + " " + growth.role + " " + growth.metric;
  row.cells.emplace_back(quantity(model.results.job, growth.role, growth.metric));
  row.cells.emplace_back(growth.arm);
  row.cells.push_back({sign_of(growth.verdict) + with_spaces(to_name(growth.verdict)),
                       tone_of_growth(growth.verdict)});
  Cell slope(value_text(growth.metric, growth.slope));
  slope.value = growth.slope;
  slope.exact = exact_text(growth.metric, growth.slope);
  if (growth.model_multiples_per_round)
    slope.text.add(fmt::format(" = {:.2f} models", *growth.model_multiples_per_round), Tone::muted);
  row.cells.push_back(std::move(slope));
  row.cells.emplace_back(growth.ci_low && growth.ci_high
                             ? format_interval(value_text(growth.metric, growth.ci_low),
                                               value_text(growth.metric, growth.ci_high))
                             : "–");
  row.cells.emplace_back(line.outlook);
  row.cells.emplace_back(with_minus(growth.reason));
  return row;
}

Table series_table() {
  Table table;
  table.columns = {{"metric"},
                   {"variant"},
                   {"verdict"},
                   {"growth", true},
                   {"95% CI", true},
                   {"runs out of memory?"},
                   {"reason", false, false, Medium::page}};
  return table;
}

Table stacks_table(const ReportModel& model) {
  Table table;
  table.columns = {{"variant"}, {"live allocations", true}, {"function"}, {"phase"}};
  const Results& results = model.results;
  // A job of one role has its stacks with all processes, too.
  std::set<std::tuple<std::string, std::vector<std::string>, double>> shown;
  for (std::size_t i = 0; i < results.growth.size(); ++i) {
    const Growth& growth = results.growth[i];
    if (!growth.metric.ends_with("_per_round")) continue;
    for (const GrowingRow& growing : model.growth_lines.at(i).stacks) {
      if (!shown.emplace(growth.arm, growing.stack, growing.bytes_per_round).second) continue;
      Row row;
      row.key = growth.arm + " " + growth.role;
      row.cells.emplace_back(growth.arm);
      Cell amount("+" + growing.amount);
      amount.value = growing.bytes_per_round;
      row.cells.push_back(std::move(amount));
      Cell function;
      std::vector<std::string> callers;
      if (!growing.caller.empty()) callers.push_back(growing.caller);
      function.stack =
          stack_cell(growing.function, growing.location, std::move(callers), growing.stack);
      link_flame(model, growth.role, growth.arm, "live-any", *function.stack);
      row.cells.push_back(std::move(function));
      row.cells.emplace_back(growing.phase.empty() ? "–" : growing.phase);
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

}  // namespace

Section growth_notice_section(const ReportModel& model) {
  Section section{"growth-notice", "Growth", {}};
  const bool is_alone = model.results.arms.size() == 1;
  constexpr std::size_t kMostLines = 3;
  for (const GrowthOfRole& role : growth_to_tell(model.results)) {
    const bool is_asked =
        std::ranges::any_of(model.results.comparisons, [&](const Comparison& row) {
          return row.is_asked() && row.role == role.front()->role &&
                 row.metric == role.front()->metric;
        });
    if (!is_asked && !is_known(role) && !is_alone) continue;
    if (section.parts.size() < kMostLines)
      section.add(Paragraph{role_line(model.results, role)}, Medium::all,
                  is_asked || is_known(role) ? 0 : 5);
  }
  return section;
}

Section growth_section(const ReportModel& model) {
  const Results& results = model.results;
  Section section{"growth", "Growth from round to round", {}};
  if (results.growth.empty()) return section;
  const bool any_rounds = std::ranges::any_of(
      results.growth, [](const Growth& growth) { return growth.metric.ends_with("_per_round"); });
  if (!any_rounds) section.title = "Growth over time";
  Table known = series_table();
  Table open = series_table();
  Table beside = series_table();
  for (std::size_t i = 0; i < results.growth.size(); ++i) {
    const Growth& growth = results.growth[i];
    if (is_repeated(results, growth)) continue;
    const Comparison* asked = results.row(growth.arm, growth.role, growth.metric);
    const bool is_beside = any_rounds && !growth.metric.ends_with("_per_round");
    const bool is_first =
        growth.verdict != GrowthVerdict::inconclusive || (asked != nullptr && asked->is_asked());
    Table& table = is_beside ? beside : is_first ? known : open;
    table.rows.push_back(series_row(model, growth, model.growth_lines.at(i)));
  }
  if (known.rows.empty())
    section.add(Paragraph{
        "Every series is inconclusive: " + with_minus(results.growth.front().reason) + "."});
  else
    section.add(std::move(known));
  if (Table stacks = stacks_table(model); !stacks.rows.empty()) {
    stacks.caption = "The stacks that grow, from profiled trials, which are no part of the verdict";
    section.add(std::move(stacks));
  }
  const auto add_fold = [&](const std::string& title, Table table) {
    if (table.rows.empty()) return;
    Fold fold{title, {}, false, true};
    fold.parts.push_back({std::move(table)});
    section.add(std::move(fold), Medium::page);
  };
  add_fold(fmt::format("{} inconclusive series", open.rows.size()), std::move(open));
  add_fold(fmt::format("The same per minute, {} series", beside.rows.size()), std::move(beside));
  return section;
}

}  // namespace memduel
