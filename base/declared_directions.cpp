#include "base/declared_directions.h"

#include <fmt/format.h>

#include <map>
#include <set>
#include <string>

namespace memduel {
namespace {

using Declared = std::map<std::string, std::set<Direction>>;

Declared all_declarations(const RunData& run) {
  Declared all;
  for (const auto& [metric, better] : run.job.better)
    if (better != Direction::undeclared) all[metric].insert(better);
  for (const TrialData& trial : run.trials)
    for (const RoleData& role : trial.roles)
      for (const DeclaredDirection& one : role.declared) all[one.metric].insert(one.better);
  return all;
}

Note contradicts_the_table(const std::string& metric, Direction better) {
  return {"metric_direction_contradicts",
          fmt::format("the program declares that {} is better for {}, but {} is better for "
                      "memduel's metric of that name, which counts",
                      better == Direction::lower ? "lower" : "higher", metric,
                      better == Direction::lower ? "higher" : "lower"),
          "give the program's metric another name"};
}

Note contradict_each_other(const std::string& metric) {
  return {"metric_direction_contradicts",
          fmt::format("both \"higher\" and \"lower\" are declared as better for {}, so neither "
                      "counts",
                      metric),
          "declare it once, or alike in the config, the log pattern and every program"};
}

}  // namespace

std::vector<Note> join_declarations(JobFacts& job, const JobFacts& other) {
  std::vector<Note> warnings;
  for (const auto& [metric, better] : other.better) {
    const auto [own, is_new] = job.better.emplace(metric, better);
    if (is_new || own->second == better || better == Direction::undeclared) continue;
    if (own->second != Direction::undeclared) warnings.push_back(contradict_each_other(metric));
    own->second = own->second == Direction::undeclared ? better : Direction::undeclared;
  }
  return warnings;
}

void join_declarations(RunData& run) {
  for (const auto& [metric, directions] : all_declarations(run)) {
    if (const Direction own = metric_info(metric).better; own != Direction::undeclared) {
      for (const Direction better : directions)
        if (better != own) run.warnings.push_back(contradicts_the_table(metric, better));
    } else if (directions.size() > 1) {
      run.warnings.push_back(contradict_each_other(metric));
      run.job.better[metric] = Direction::undeclared;
    } else {
      run.job.better[metric] = *directions.begin();
    }
  }
}

}  // namespace memduel
