#include "experiment/run/memory_warnings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "base/memory_warning.h"

namespace memduel {
namespace {

struct WarningLevel {
  const char* gauge;
  const char* code;
  const char* words;
};

constexpr WarningLevel kWarningLevels[] = {
    {kMemoryWarningGauge, "memory_warning", "memory ran short"},
    {kMemoryCriticalGauge, "memory_critical", "memory was critically short"}};

/// More are counted, not listed.
constexpr std::size_t kMostRoundsNamed = 10;

std::string rounds_in_words(const std::vector<int>& rounds) {
  const std::size_t named = std::min(rounds.size(), kMostRoundsNamed);
  const std::vector<int> first(rounds.begin(), rounds.begin() + static_cast<std::ptrdiff_t>(named));
  std::string text =
      fmt::format("{} {}", rounds.size() == 1 ? "round" : "rounds", fmt::join(first, ", "));
  if (rounds.size() > named) text += fmt::format(" and {} more", rounds.size() - named);
  return text;
}

std::optional<Note> take_warning(const TrialData& trial, RoleData& role,
                                 const WarningLevel& level) {
  std::vector<int> rounds;
  double most = 0;
  for (const RoundData& round : role.rounds) {
    const auto used = round.metrics.value(level.gauge);
    if (!used) continue;
    rounds.push_back(round.round);
    most = std::max(most, *used);
  }
  role.metrics.erase(level.gauge);
  if (rounds.empty()) return std::nullopt;
  return Note{level.code,
              fmt::format("trial {}, arm {}: {} for {} in {}: at most {:.1f} % used", trial.id,
                          trial.arm, level.words, role.role, rounds_in_words(rounds), 100 * most),
              "its stderr in logs/ says whose memory"};
}

}  // namespace

std::vector<Note> take_memory_warnings(TrialData& trial) {
  std::vector<Note> notes;
  for (RoleData& role : trial.roles)
    for (const WarningLevel& level : kWarningLevels)
      if (auto note = take_warning(trial, role, level)) notes.push_back(std::move(*note));
  return notes;
}

}  // namespace memduel
