#include "experiment/run/dead_baseline.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace memduel {
namespace {

/// Of a program's arguments those that a shell would have taken for itself.
bool is_of_a_shell(const std::string& word) {
  constexpr std::array kOperators = {"<", ">", ">>", "|", "||", "&", "&&", ";", "2>", "2>&1"};
  return std::ranges::find(kOperators, word) != kOperators.end();
}

bool wants_a_shell(const Experiment& experiment) {
  for (const Arm& arm : experiment.arms)
    for (const JobProcess& process : arm.processes)
      for (const std::string& word : process.argv)
        if (is_of_a_shell(word)) return true;
  return false;
}

}  // namespace

std::string advice_on_dead_baseline(const Experiment& experiment, const std::string& failure) {
  std::string advice =
      "the logs are in logs/, its files in trials/; memduel report shows the rounds that there are";
  const bool foreign = !experiment.expansion;
  if (foreign && failure.find("exited with status") != std::string::npos)
    advice +=
        "; where that status is no failure, give --ignore-failure to compare, or name it in "
        "\"exit_statuses\" of the process in a config";
  if (foreign && wants_a_shell(experiment))
    advice += "; nothing goes through a shell unless --shell is given";
  return advice;
}

}  // namespace memduel
