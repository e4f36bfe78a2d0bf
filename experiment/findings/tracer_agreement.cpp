#include "experiment/findings/tracer_agreement.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/error.h"
#include "base/profile_name.h"
#include "base/run_directory.h"
#include "base/text.h"
#include "experiment/run/kept_profiles.h"
#include "profilers/profile/agreement/tracer_agreement.h"
#include "profilers/readers/registry.h"

namespace memduel {
namespace {

/// The files of one process image of a trial.
struct ImageFiles {
  std::optional<ProfileName> whole_run;
  std::optional<ProfileName> last_round;
};

/// What one tracer left of a role, by trial and image.
struct TracerFiles {
  std::string tracer;
  std::map<std::int64_t, std::map<std::size_t, ImageFiles>> trials;
};

/// By arm (its place in the config) and role; tracers in the order of their trials.
using FilesByRole = std::map<std::pair<std::size_t, std::string>, std::vector<TracerFiles>>;

std::vector<std::string> arm_names(const RunData& run) {
  std::vector<std::string> names;
  for (const nlohmann::json& arm : run.config.value("arms", nlohmann::json::array()))
    names.push_back(arm.value("name", std::string()));
  return names;
}

std::vector<ProfileName> heap_profiles_in(const std::filesystem::path& folder) {
  std::vector<ProfileName> names;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(folder, none)) {
    const auto name = profile_name_from(entry.path().filename().string());
    if (name && name->tracer != "gperftools-cpu") names.push_back(*name);
  }
  std::ranges::sort(names, [](const ProfileName& a, const ProfileName& b) {
    return std::tie(a.trial, a.image) < std::tie(b.trial, b.image);
  });
  return names;
}

void add_file(ImageFiles& files, const ProfileName& name) {
  if (!name.round) {
    files.whole_run = name;
  } else if (!files.last_round || *files.last_round->round < *name.round) {
    files.last_round = name;
  }
}

FilesByRole files_by_role(const std::filesystem::path& folder, const RunData& run) {
  const std::vector<std::string> arms = arm_names(run);
  FilesByRole roles;
  for (const ProfileName& name : heap_profiles_in(folder)) {
    const auto trial = std::ranges::find_if(run.trials, [&](const TrialData& one) {
      return one.id == name.trial && one.kind == TrialKind::profile &&
             one.status == TrialStatus::ok;
    });
    if (trial == run.trials.end()) continue;
    const auto arm = std::ranges::find(arms, trial->arm);
    if (arm == arms.end()) continue;
    auto& tracers = roles[{static_cast<std::size_t>(arm - arms.begin()), name.role}];
    auto files = std::ranges::find(tracers, name.tracer, &TracerFiles::tracer);
    if (files == tracers.end()) files = tracers.insert(tracers.end(), {name.tracer, {}});
    add_file(files->trials[name.trial][name.image], name);
  }
  return roles;
}

/// Absent, and a problem more, when it cannot be read.
std::optional<Profile> profile_in(const std::filesystem::path& folder, const ImageFiles& files,
                                  std::vector<Note>& problems) {
  const ProfileName& name = files.whole_run ? *files.whole_run : *files.last_round;
  try {
    Profile profile = read_profile(folder / to_text(name));
    if (!files.whole_run)
      profile.info["moment"] = fmt::format("its dump at the end of round {}", *name.round);
    return profile;
  } catch (const Error& error) {
    problems.push_back({"profile_unreadable", error.message(),
                        "whether the tracers agree is told without this profile"});
    return std::nullopt;
  }
}

TracedTrials traced_trials(const std::filesystem::path& folder, const TracerFiles& files,
                           std::vector<Note>& problems) {
  TracedTrials traced{files.tracer, {}};
  for (const auto& [trial, images] : files.trials) {
    std::vector<Profile> profiles;
    for (const auto& [image, left] : images)
      if (auto profile = profile_in(folder, left, problems))
        profiles.push_back(std::move(*profile));
    if (!profiles.empty()) traced.profiles.push_back(std::move(profiles));
  }
  return traced;
}

}  // namespace

RunAgreement run_agreement(const std::filesystem::path& run_directory, const RunData& run) {
  RunAgreement found;
  const auto folder = run_directory / kProfilesFolder;
  const std::vector<std::string> arms = arm_names(run);
  for (const auto& [where, tracers] : files_by_role(folder, run)) {
    if (tracers.size() < 2) continue;
    std::vector<TracedTrials> traced;
    for (const TracerFiles& files : tracers)
      traced.push_back(traced_trials(folder, files, found.limitations));
    auto agreement = tracer_agreement(std::move(traced));
    if (!agreement) continue;
    agreement->arm = arms[where.first];
    agreement->role = where.second;
    for (AgreementStack& stack : agreement->stacks)
      for (std::string& function : stack.stack) function = valid_utf8(function);
    found.agreement.push_back(std::move(*agreement));
  }
  return found;
}

}  // namespace memduel
