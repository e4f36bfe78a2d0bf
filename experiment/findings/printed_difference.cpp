#include "experiment/findings/printed_difference.h"

#include <algorithm>
#include <string>

#include "base/characters.h"
#include "base/run_directory.h"
#include "experiment/marks/trial_logs.h"
#include "experiment/run/artifacts.h"

namespace memduel {
namespace {

namespace fs = std::filesystem;

/// The text up to `end`, which goes from the rest together with it.
std::string_view take(std::string_view& rest, char end) {
  const std::string_view taken = rest.substr(0, rest.find(end));
  rest.remove_prefix(std::min(taken.size() + 1, rest.size()));
  return taken;
}

bool equal_but_for_paths(std::string_view a, std::string_view b) {
  while (!a.empty() && !b.empty()) {
    const std::string_view of_a = take(a, ' ');
    const std::string_view of_b = take(b, ' ');
    const auto is_path = [](std::string_view word) {
      return word.find('/') != std::string_view::npos;
    };
    if (of_a != of_b && !(is_path(of_a) && is_path(of_b))) return false;
  }
  return a.empty() && b.empty();
}

std::string shortened(std::string_view line) {
  constexpr std::size_t kMostCharacters = 120;
  std::string text;
  std::size_t characters = 0;
  for_each_character(line, [&](std::string_view character, std::uint32_t /*code_point*/) {
    if (characters++ < kMostCharacters) text += character;
  });
  return characters > kMostCharacters ? text + "…" : text;
}

/// What the only process of a trial printed; absent where its log is gone or too large.
std::optional<std::string> printed_in(const TrialData& trial, const fs::path& directory) {
  const TrialLogs logs{directory / kLogsFolder, trial.id};
  for (const RoleData& role : trial.roles)
    if (auto text = printed_text(logs.file(role.role, "stdout"))) return text;
  return std::nullopt;
}

const TrialData* in_block(const RunData& run, const std::string& arm, int block) {
  const auto found = std::ranges::find_if(run.trials, [&](const TrialData& trial) {
    return trial.arm == arm && trial.block == block && trial.counts();
  });
  return found == run.trials.end() ? nullptr : &*found;
}

std::optional<LineDifference> printed_difference(const RunData& run, const Equivalence& compared,
                                                 const fs::path& directory) {
  for (const TrialData& trial : run.trials) {
    if (trial.arm != compared.candidate || !trial.counts()) continue;
    const TrialData* other = in_block(run, compared.baseline, trial.block);
    if (other == nullptr) continue;
    const auto a = printed_in(*other, directory);
    const auto b = printed_in(trial, directory);
    if (!a || !b) continue;
    if (auto found = first_difference(*a, *b)) return found;
  }
  return std::nullopt;
}

}  // namespace

std::optional<LineDifference> first_difference(std::string_view baseline,
                                               std::string_view candidate) {
  for (int line = 1; !baseline.empty() || !candidate.empty(); ++line) {
    const std::string_view of_a = take(baseline, '\n');
    const std::string_view of_b = take(candidate, '\n');
    if (!equal_but_for_paths(of_a, of_b))
      return LineDifference{line, shortened(of_a), shortened(of_b)};
  }
  return std::nullopt;
}

void add_printed_differences(Results& results, const RunData& run, const fs::path& directory) {
  for (Equivalence& compared : results.equivalence)
    for (FileEquivalence& file : compared.files)
      if (file.file == kStandardOutput && file.identical_blocks < file.blocks)
        file.first_difference = printed_difference(run, compared, directory);
}

}  // namespace memduel
