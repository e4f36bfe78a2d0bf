// Growth in a report: the table of series and growing stacks, and the sentences about them.

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "model/metric_catalogue.h"
#include "profile/function_names.h"
#include "reports/memory_tables.h"
#include "reports/report_model.h"
#include "util/text.h"
#include "verdict/questions.h"
#include "words.h"

namespace memduel {
namespace {

std::string outlook_of(const Growth& row) {
  if (row.verdict == GrowthVerdict::inconclusive)
    return row.rounds_needed
               ? fmt::format("cannot be told: {} {} would", *row.rounds_needed,
                             row.metric.ends_with("_per_minute") ? "minutes" : "rounds")
               : "cannot be told";
  if (row.verdict != GrowthVerdict::growing)
    return row.level ? "no: stays near " + format_bytes(*row.level) : "no";
  return row.projection ? projection_words(*row.projection) : "not within ten times these rounds";
}

GrowingRow growing_row(const GrowingStack& stack) {
  GrowingRow row;
  row.amount = format_bytes(stack.bytes_per_round) + " per round";
  row.bytes_per_round = stack.bytes_per_round;
  row.stack = stack.stack;
  row.function =
      stack.stack.empty() ? "[no stack]" : short_name(stack.stack[telling_frame(stack.stack)]);
  row.caller = short_name(telling_caller(stack.stack));
  row.phase = stack.phase;
  row.location = stack.location;
  return row;
}

}  // namespace

std::vector<GrowthLine> growth_lines(const Results& results) {
  std::vector<GrowthLine> lines;
  for (const Growth& row : results.growth) {
    GrowthLine line{outlook_of(row), {}};
    for (const GrowingStack& stack : row.stacks) line.stacks.push_back(growing_row(stack));
    lines.push_back(std::move(line));
  }
  return lines;
}

namespace {

/// A job of one process grows as that process does: it is told once, of the job.
bool repeats_the_job(const std::vector<const Growth*>& role,
                     const std::vector<std::vector<const Growth*>>& all) {
  return role[0]->role != kTree && std::ranges::any_of(all, [&](const auto& job) {
           return job[0]->role == kTree &&
                  std::ranges::equal(role, job, [](const Growth* a, const Growth* b) {
                    return a->arm == b->arm && a->metric == b->metric && a->slope == b->slope &&
                           a->ci_low == b->ci_low && a->ci_high == b->ci_high;
                  });
         });
}

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
  const auto all = roles;
  std::erase_if(roles, [&](const auto& role) { return repeats_the_job(role, all); });
  if (gated.empty()) keep_what_rises(roles);
  return roles;
}

/// Series per round of the roles that gates ask about and that nothing was told of yet; where these
/// have none, of the first role that has.
std::vector<std::vector<const Growth*>> growth_left_to_tell(
    const ReportModel& model, const std::vector<std::vector<const Growth*>>& told) {
  const Results& results = model.results;
  if (!results.ablation.empty()) return {};
  const auto per_round = [&](const std::string& role) {
    std::vector<const Growth*> rows;
    for (const Growth& growth : results.growth)
      if (growth.role == role && growth.metric == kRssGrowthPerRound) rows.push_back(&growth);
    return rows;
  };
  std::set<std::string> seen;
  const bool others_rise = std::ranges::any_of(told, rises);
  for (const auto& role : told) seen.insert(role[0]->role);
  std::vector<std::vector<const Growth*>> left;
  const auto add = [&](const std::string& role) {
    if (!seen.insert(role).second) return;
    auto rows = per_round(role);
    if (rows.empty() || (others_rise && !rises_much(rows))) return;
    if (!repeats_the_job(rows, told)) left.push_back(std::move(rows));
  };
  for (const Headline& headline : model.headlines)
    if (headline.is_of_gate()) add(headline.role);
  if (told.empty() && left.empty() && !results.growth.empty()) add(results.growth.front().role);
  return left;
}

}  // namespace

void tell_growth(ReportModel& model) {
  const JobFacts& job = model.results.job;
  const auto tell_last = [&](const std::vector<const Growth*>& role) {
    model.side_effects.push_back(
        {Topic::growth, growth_sentence(job, role).text() + ".", Verdict::inconclusive});
  };
  const auto told = growth_to_tell(model.results);
  for (const std::vector<const Growth*>& role : told) {
    const bool known = std::ranges::any_of(
        role, [](const Growth* growth) { return growth->verdict != GrowthVerdict::inconclusive; });
    if (known || rises(role))
      model.growth.push_back(growth_sentence(job, role));
    else if (model.results.arms.size() == 1 && role.size() == 1 && role[0]->slope)
      model.growth.emplace_back(slope_sentence(job, *role[0]));
    else
      tell_last(role);
  }
  for (const std::vector<const Growth*>& role : growth_left_to_tell(model, told)) {
    const bool grows = std::ranges::any_of(
        role, [&](const Growth* growth) { return is_notable_growth(model.results, *growth); });
    if (grows)
      model.growth.push_back(growth_sentence(job, role));
    else
      tell_last(role);
  }
}

}  // namespace memduel
