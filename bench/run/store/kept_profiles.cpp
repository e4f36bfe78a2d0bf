#include <fmt/format.h>

#include <algorithm>

#include "external/profile_names.h"
#include "external/tracers.h"
#include "model/run_directory.h"
#include "readers/read_profile.h"
#include "run/store.h"
#include "util/error.h"
#include "util/file.h"
#include "util/process.h"

namespace memduel {
namespace {

void add_losses(const KeptProfiles& kept, std::vector<std::string>& losses) {
  for (const KeptProfile& profile : kept.files) {
    if (profile.of.round) continue;
    for (std::string& loss : losses_in(profile.file, profile.file.filename().string()))
      losses.push_back(std::move(loss));
  }
}

/// What a process left, into `folder`; what is missing of it.
std::vector<std::string> keep_of(const ProcessSpec& process, const TrialPlan& plan,
                                 const TracerEntry& tracer, const std::filesystem::path& folder) {
  std::vector<std::string> missing;
  if (!process.trace_obstacle.empty())
    missing.push_back(fmt::format("{}: {}", process.role, process.trace_obstacle));
  if (!process.trace_dir || !is_there(*process.trace_dir)) return missing;
  const KeptProfiles kept = tracer.keep(*process.trace_dir, [&](const LeftProfile& left) {
    return folder /
           to_text(ProfileName{plan.id, process.role, left.image, left.round, plan.tracer});
  });
  for (const std::string& why : kept.missing)
    missing.push_back(fmt::format("{}: {}", process.role, why));
  if (plan.tracer != kRecorderTracer) add_losses(kept, missing);
  return missing;
}

}  // namespace

std::vector<std::string> losses_in(const std::filesystem::path& file, const std::string& name) {
  try {
    std::vector<std::string> losses;
    for (const std::string& note : read_profile(file).notes)
      losses.push_back(fmt::format("{}: {}", name, note));
    return losses;
  } catch (const Error& error) {
    return {error.message()};
  }
}

std::vector<std::string> keep_profiles(const TrialPlan& plan, const std::filesystem::path& folder) {
  make_directory(folder);
  std::vector<std::vector<std::string>> missing(plan.processes.size());
  const TracerEntry& tracer = tracer_named(plan.tracer);
  const auto keep_one = [&](std::size_t i) {
    missing[i] = keep_of(plan.processes[i], plan, tracer, folder);
  };
  // Other tracers start programs for it, which take all cores already.
  if (plan.tracer == kRecorderTracer)
    run_parallel(missing.size(), keep_one);
  else
    for (std::size_t i = 0; i < missing.size(); ++i) keep_one(i);
  std::vector<std::string> all;
  for (const std::vector<std::string>& of_process : missing)
    all.insert(all.end(), of_process.begin(), of_process.end());
  return all;
}

std::vector<std::filesystem::path> kept_profiles(const std::filesystem::path& run_directory) {
  std::vector<std::filesystem::path> profiles;
  std::error_code none;
  for (const auto& entry :
       std::filesystem::directory_iterator(run_directory / kProfilesFolder, none))
    if (profile_name_from(entry.path().filename().string())) profiles.push_back(entry.path());
  std::ranges::sort(profiles);
  return profiles;
}

}  // namespace memduel
