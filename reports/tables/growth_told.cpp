#include "reports/tables/growth_told.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/metric_catalogue.h"
#include "reports/tables/report_model.h"
#include "reports/tables/words.h"

namespace memduel {
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

/// Growth that a gate asks about, else what is known of every role, per round where it has any; by
/// role. None in an ablation, which asks about switches.
std::vector<std::vector<const Growth*>> growth_to_tell(const Results& results) {
  if (!results.ablation.empty()) return {};
  std::set<std::pair<std::string, std::string>> gated;
  for (const Comparison& c : results.comparisons)
    if (c.is_asked() && is_growth_metric(c.metric)) gated.emplace(c.role, c.metric);
  std::set<std::pair<std::string, std::string>> per_round;
  std::set<std::pair<std::string, std::string>> known;  // of one arm at least
  for (const Growth& growth : results.growth) {
    if (growth.metric == kRssGrowthPerRound) per_round.emplace(growth.arm, growth.role);
    if (growth.verdict != GrowthVerdict::inconclusive &&
        !is_median_of_group(results.job, growth.role))
      known.emplace(growth.role, growth.metric);
  }
  // A lone arm has no verdict; where it goes is told all the same, of all its roles together.
  const bool alone = results.arms.size() == 1;
  std::vector<std::vector<const Growth*>> roles;
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
  return roles;
}

bool any_verdict(const std::vector<const Growth*>& role, GrowthVerdict verdict) {
  return std::ranges::any_of(role,
                             [&](const Growth* growth) { return growth->verdict == verdict; });
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
  for (const auto& role : told) seen.insert(role[0]->role);
  std::vector<std::vector<const Growth*>> left;
  const auto add = [&](const std::string& role) {
    if (!seen.insert(role).second) return;
    auto rows = per_round(role);
    if (!rows.empty() && !repeats_the_job(rows, told)) left.push_back(std::move(rows));
  };
  for (const Headline& headline : model.headlines) add(headline.role);
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
    if (known)
      model.growth.push_back(growth_sentence(job, role));
    else if (model.results.arms.size() == 1 && role.size() == 1 && role[0]->slope)
      model.growth.emplace_back(slope_sentence(job, *role[0]));
    else
      tell_last(role);
  }
  for (const std::vector<const Growth*>& role : growth_left_to_tell(model, told)) {
    if (any_verdict(role, GrowthVerdict::growing))
      model.growth.push_back(growth_sentence(job, role));
    else
      tell_last(role);
  }
}

}  // namespace memduel
