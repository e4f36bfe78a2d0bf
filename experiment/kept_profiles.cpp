#include "experiment/kept_profiles.h"

#include <fmt/format.h>

#include <algorithm>

#include "profilers/profile/recorded_images.h"

namespace memduel {

std::vector<std::string> keep_profiles(const TrialPlan& plan, const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  std::vector<std::string> missing;
  for (const ProcessSpec& process : plan.processes) {
    if (!process.heap_dir || !std::filesystem::exists(*process.heap_dir)) continue;
    const auto first = folder / fmt::format("{}-{}.mdp", plan.id, process.role);
    RecordedImages recorded = finish_images(
        *process.heap_dir,
        [&](const HeapCounters& /*image*/, std::size_t number) { return numbered(first, number); },
        {default_symbol_cache(), false});
    for (std::string& why : recorded.unreadable)
      missing.push_back(fmt::format("{}: {}", process.role, why));
  }
  return missing;
}

std::vector<std::filesystem::path> kept_profiles(const std::filesystem::path& run_directory) {
  std::vector<std::filesystem::path> profiles;
  std::error_code none;
  for (const auto& entry :
       std::filesystem::directory_iterator(run_directory / kProfilesFolder, none))
    if (entry.path().extension() == ".mdp") profiles.push_back(entry.path());
  std::sort(profiles.begin(), profiles.end());
  return profiles;
}

}  // namespace memduel
