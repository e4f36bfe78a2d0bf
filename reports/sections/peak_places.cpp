#include "sections/peak_places.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "model/metric_catalogue.h"
#include "stats/estimates.h"
#include "words.h"

namespace memduel {
namespace {

/// Medians so near the highest are one peak.
constexpr double kAlike = 0.01;

/// What is highest, with all that is as high within kAlike.
template <class Key>
struct Highest {
  Key key;
  double value = 0;
  std::vector<Key> tied;  ///< itself among them
  std::size_t of = 0;     ///< how many there are
};

template <class Key>
std::optional<Highest<Key>> highest(std::map<Key, std::vector<double>> values) {
  if (values.empty()) return std::nullopt;
  std::vector<std::pair<Key, double>> medians;
  for (auto& [key, all] : values) medians.emplace_back(key, median(std::move(all)));
  const auto best =
      std::ranges::max_element(medians, {}, [](const auto& one) { return one.second; });
  Highest<Key> found{best->first, best->second, {}, medians.size()};
  for (const auto& [key, value] : medians)
    if (value >= best->second * (1 - kAlike)) found.tied.push_back(key);
  return found;
}

/// "round 4", "rounds 1, 3–5 alike", "every round alike", "80 rounds from 12 to 960 alike".
std::string rounds_words(const Highest<int>& peak) {
  constexpr std::size_t kMostRuns = 4;
  if (peak.tied.size() == 1) return fmt::format("round {}", peak.key);
  if (peak.tied.size() == peak.of) return "every round alike";
  std::vector<std::pair<int, int>> runs;
  for (const int round : peak.tied) {
    if (!runs.empty() && runs.back().second == round - 1)
      runs.back().second = round;
    else
      runs.emplace_back(round, round);
  }
  if (runs.size() > kMostRuns)
    return fmt::format("{} rounds from {} to {} alike", peak.tied.size(), peak.tied.front(),
                       peak.tied.back());
  std::vector<std::string> words;
  for (const auto& [from, to] : runs)
    words.push_back(from == to ? fmt::format("{}", from) : fmt::format("{}–{}", from, to));
  return fmt::format("rounds {} alike", fmt::join(words, ", "));
}

/// "original 604.0 MiB in round 5, phase aggregate"; empty where no round has a peak.
std::string place_of(const std::vector<const RoundData*>& rounds, const std::string& variant) {
  std::map<int, std::vector<double>> by_round;
  for (const RoundData* round : rounds)
    if (const auto peak = round->metrics.value(kPeakRss)) by_round[round->round].push_back(*peak);
  const auto round = highest(std::move(by_round));
  if (!round) return {};
  std::map<std::string, std::vector<double>> by_phase;
  for (const RoundData* one : rounds)
    if (std::ranges::binary_search(round->tied, one->round))
      for (const PhaseData& phase : one->phases)
        if (const auto peak = phase.metrics.value(kPeakRss)) by_phase[phase.phase].push_back(*peak);
  const auto phase = highest(std::move(by_phase));
  return fmt::format("{} {} in {}{}", variant, value_text(kPeakRss, round->value),
                     rounds_words(*round), phase ? ", phase " + phase->key : "");
}

}  // namespace

std::string peak_places(const Results& results, const std::string& role) {
  if (results.job.is_one_round) return {};
  std::vector<std::string> places;
  for (const ArmSummary* variant : judged_arms(results)) {
    std::vector<const RoundData*> rounds;
    for (const TrialData& trial : results.trials) {
      if (!trial.counts() || trial.arm != variant->name) continue;
      const auto own = std::ranges::find(trial.roles, role, &RoleData::role);
      if (own == trial.roles.end()) continue;
      for (const RoundData& round : own->rounds) rounds.push_back(&round);
    }
    if (std::string place = place_of(rounds, variant->name); !place.empty())
      places.push_back(std::move(place));
  }
  if (places.empty()) return {};
  return fmt::format("Peak of {}, by the medians of its rounds: {}.", role_words(results.job, role),
                     fmt::join(places, "; "));
}

}  // namespace memduel
