#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

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

/// Names profiles by the role of the process that left them: that of its command, or of a match.
class RoleNaming {
 public:
  RoleNaming(const TrialPlan& plan, const std::map<pid_t, std::string>& matched)
      : plan_(plan), matched_(matched) {}

  std::string name_of(const std::string& role, const LeftProfile& left) {
    const auto found = matched_.find(static_cast<pid_t>(left.pid));
    if (found == matched_.end() || found->second == role)
      return to_text(ProfileName{plan_.id, role, left.image, left.round, plan_.tracer});
    // Processes of several commands may match.
    auto& images = images_[found->second];
    const std::size_t image =
        images.emplace(std::pair(role, left.image), images.size() + 1).first->second;
    return to_text(ProfileName{plan_.id, found->second, image, left.round, plan_.tracer});
  }

 private:
  const TrialPlan& plan_;
  const std::map<pid_t, std::string>& matched_;
  std::map<std::string, std::map<std::pair<std::string, std::size_t>, std::size_t>> images_;
};

/// What a process left, into `folder`; what is missing of it.
std::vector<std::string> keep_of(const ProcessSpec& process, const TrialPlan& plan,
                                 const TracerEntry& tracer, const std::filesystem::path& folder,
                                 RoleNaming& naming) {
  std::vector<std::string> missing;
  if (!process.trace_obstacle.empty())
    missing.push_back(fmt::format("{}: {}", process.role, process.trace_obstacle));
  if (!process.trace_dir || !is_there(*process.trace_dir)) return missing;
  const KeptProfiles kept = tracer.keep(*process.trace_dir, [&](const LeftProfile& left) {
    return folder / naming.name_of(process.role, left);
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

std::vector<std::string> keep_profiles(const TrialPlan& plan,
                                       const std::map<pid_t, std::string>& matched,
                                       const std::filesystem::path& folder) {
  make_directory(folder);
  RoleNaming naming(plan, matched);
  std::vector<std::vector<std::string>> missing(plan.processes.size());
  const TracerEntry& tracer = tracer_named(plan.tracer);
  const auto keep_one = [&](std::size_t i) {
    missing[i] = keep_of(plan.processes[i], plan, tracer, folder, naming);
  };
  // Other tracers start programs for it, which take all cores already. Processes of several
  // commands may be of one role, whose numbers follow the order of the commands.
  if (plan.tracer == kRecorderTracer && matched.empty())
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
