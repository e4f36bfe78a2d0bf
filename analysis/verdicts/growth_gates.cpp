#include "analysis/verdicts/growth_gates.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "analysis/growth/growth.h"
#include "analysis/values/experiment_view.h"
#include "base/error.h"
#include "base/metric_catalogue.h"
#include "base/text.h"

namespace memduel {
namespace {

using nlohmann::json;

/// Whether so many rounds decide the gate. Growth per minute is judged by rounds, too, but where
/// there are hardly any by time.
bool decides_by_rounds(const Gate& gate, std::size_t rounds, int warmup_rounds) {
  constexpr std::size_t kLeastForALine = 3;
  if (gate.advisory || gate.is_default || !is_growth_metric(gate.metric)) return false;
  return gate.metric != kRssGrowthPerMinute ||
         rounds >= growth_warmup(rounds, warmup_rounds) + kLeastForALine;
}

/// Keys that give every trial fewer rounds than needed, with their numbers.
std::map<std::string, int> short_keys(const json& config, int needed) {
  const json& workload = workload_that_ran(config);
  std::map<std::string, int> found;
  if (!workload.is_object()) return found;
  for (const char* key : {"rounds", "stop_after_round"}) {
    const auto rounds = workload.find(key);
    if (rounds == workload.end() || !rounds->is_number_integer()) continue;
    if (rounds->get<int>() < needed) found[key] = rounds->get<int>();
  }
  return found;
}

/// Of the role of the gate that marked most rounds in any trial.
struct MarkedRounds {
  std::size_t all = 0;
  std::size_t ended = 0;  ///< whose memory at the end is known
};

/// Absent where no trial has such a role.
std::optional<MarkedRounds> rounds_in(const RunData& run, const Gate& gate) {
  std::optional<MarkedRounds> most;
  for (const TrialData& trial : run.trials) {
    if (trial.status != TrialStatus::ok) continue;
    for (const RoleData& role : trial.roles) {
      if (gate.role != "*" && gate.role != role.role) continue;
      MarkedRounds marked{role.rounds.size(), 0};
      for (const RoundData& round : role.rounds)
        marked.ended += static_cast<std::size_t>(round.metrics.value(kEndRss).has_value());
      if (!most || marked.ended > most->ended) most = marked;
    }
  }
  return most;
}

/// How to make it so many rounds.
std::string more_rounds(const json& config, int needed) {
  std::string advice;
  for (const auto& [key, rounds] : short_keys(config, needed))
    advice += fmt::format("{}--set workload.{}={}", advice.empty() ? "give " : " ", key, needed);
  return advice.empty() ? fmt::format("let the job run {} rounds", needed) : advice;
}

[[noreturn]] void refuse(const Gate& gate, std::size_t rounds, int needed, const std::string& when,
                         const json& config) {
  throw Error(ExitCode::usage,
              fmt::format("found {} {}, expected at least {}: fewer rounds cannot distinguish "
                          "growth from a warm-up",
                          format_count(rounds, "round"), when, needed),
              fmt::format("gate '{}'", gate.text),
              more_rounds(config, needed) + ", or remove the gate");
}

}  // namespace

void refuse_growth_in_few_rounds(const json& config, const AnalysisSettings& settings) {
  const int needed = rounds_to_judge_growth(settings.warmup_rounds);
  const std::map<std::string, int> found = short_keys(config, needed);
  if (found.empty()) return;
  const auto fewest =
      std::ranges::min_element(found, {}, [](const auto& rounds) { return rounds.second; });
  const auto planned = static_cast<std::size_t>(fewest->second);
  for (const Gate& gate : settings.gates)
    if (decides_by_rounds(gate, planned, settings.warmup_rounds))
      refuse(gate, planned, needed, "in the config", config);
}

void refuse_growth_in_few_rounds(const RunData& run, const AnalysisSettings& settings) {
  const auto needed = static_cast<std::size_t>(rounds_to_judge_growth(settings.warmup_rounds));
  for (const Gate& gate : settings.gates) {
    const auto rounds = rounds_in(run, gate);
    if (!rounds || rounds->ended >= needed ||
        !decides_by_rounds(gate, rounds->ended, settings.warmup_rounds))
      continue;
    // Where only begins are marked, the last round has no end that is read.
    const std::size_t without_end = std::min<std::size_t>(rounds->all - rounds->ended, 1);
    refuse(gate, rounds->all, static_cast<int>(needed + without_end), "in the warm-up trial",
           run.config);
  }
}

}  // namespace memduel
