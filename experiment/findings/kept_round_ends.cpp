#include "experiment/findings/kept_round_ends.h"

#include <algorithm>

#include "base/error.h"
#include "base/profile_name.h"
#include "experiment/run/kept_profiles.h"
#include "profilers/profile/questions/round_ends.h"
#include "profilers/readers/registry.h"

namespace memduel {
namespace {

/// The recorder's files of a role in the first trial that has any.
std::vector<std::filesystem::path> recorded_images(const std::filesystem::path& run_directory,
                                                   const RunData& run, const std::string& arm,
                                                   const std::string& role) {
  const std::vector<std::filesystem::path> files = kept_profiles(run_directory);
  for (const TrialData& trial : run.trials) {
    if (trial.kind != TrialKind::profile || trial.arm != arm || trial.tracer != kRecorderTracer)
      continue;
    std::vector<std::filesystem::path> images;
    for (const std::filesystem::path& file : files) {
      const auto name = profile_name_from(file.filename().string());
      if (name && name->trial == trial.id && name->role == role &&
          name->tracer == kRecorderTracer && !name->round)
        images.push_back(file);
    }
    if (!images.empty()) return images;
  }
  return {};
}

double bytes_at_last_end(const LiveAtRoundEnds& live) {
  double sum = 0;
  for (const LiveStack& stack : live.stacks) sum += stack.bytes.back();
  return sum;
}

}  // namespace

std::optional<LiveAtRoundEnds> kept_round_ends(const std::filesystem::path& run_directory,
                                               const RunData& run, const std::string& arm,
                                               const std::string& role,
                                               std::vector<Note>& problems) {
  std::optional<LiveAtRoundEnds> largest;
  for (const std::filesystem::path& file : recorded_images(run_directory, run, arm, role)) {
    try {
      LiveAtRoundEnds live = live_at_round_ends(read_profile(file));
      const bool more = !largest || bytes_at_last_end(live) > bytes_at_last_end(*largest);
      if (!live.rounds.empty() && more) largest = std::move(live);
    } catch (const Error& error) {
      problems.push_back({"profile_unreadable", error.message(),
                          "which stacks grow is told without this profile"});
    }
  }
  return largest;
}

}  // namespace memduel
