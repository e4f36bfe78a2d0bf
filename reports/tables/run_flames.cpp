#include "reports/tables/run_flames.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "analysis/values/ranked_candidates.h"
#include "base/error.h"
#include "base/metric_catalogue.h"
#include "base/parallel.h"
#include "base/text.h"
#include "profilers/profile/questions/export_profile.h"
#include "profilers/profile/questions/flame_data.h"
#include "reports/tables/confidential.h"
#include "reports/tables/encode.h"

namespace memduel {
namespace {

/// Roles in the order of the gate rows that name or mean them; others come last, members of groups
/// behind the rest.
std::pair<std::size_t, bool> place_of(const std::string& role, const Results& results) {
  std::size_t place = 0;
  const bool member = is_member(results.job, role);
  for (const Comparison& c : results.comparisons) {
    if (!c.is_asked()) continue;
    const bool of_job = c.role == kTree;
    if (of_job ? role == results.job.reference : is_about(results.job, c.role, role)) break;
    ++place;
  }
  return {place, member};
}

struct Chosen {
  const ListedProfile* profile = nullptr;
  std::uintmax_t bytes = 0;
};

/// Of each arm, in the order of the list.
using OneRole = std::vector<Chosen>;

std::vector<OneRole> largest_of_each(const ProfileList& list,
                                     const std::map<std::string, std::uintmax_t>& sizes) {
  std::vector<OneRole> roles;
  for (const ListedProfile& one : list.profiles) {
    if (one.round) continue;
    const std::uintmax_t bytes = sizes.at(one.file);
    const auto same_role = [&](const OneRole& role) {
      return role[0].profile->role == one.role && role[0].profile->tracer == one.tracer;
    };
    auto role = std::ranges::find_if(roles, same_role);
    if (role == roles.end()) role = roles.insert(roles.end(), OneRole{});
    const auto same_arm = [&](const Chosen& chosen) { return chosen.profile->arm == one.arm; };
    const auto arm = std::find_if(role->begin(), role->end(), same_arm);
    if (arm == role->end())
      role->push_back({&one, bytes});
    else if (arm->profile->trial == one.trial && arm->bytes < bytes)
      *arm = {&one, bytes};
  }
  return roles;
}

void add_pairs(std::vector<FlamePair>& pairs, const OneRole& role, const std::string& baseline) {
  const auto first =
      std::ranges::find_if(role, [&](const Chosen& one) { return one.profile->arm == baseline; });
  for (const Chosen& one : role) {
    if (first == role.end() || role.size() == 1)
      pairs.push_back(
          {one.profile->tracer, one.profile->role, {one.profile->arm}, {one.profile->file}});
    else if (one.profile->arm != baseline)
      pairs.push_back({one.profile->tracer,
                       one.profile->role,
                       {baseline, one.profile->arm},
                       {first->profile->file, one.profile->file}});
  }
}

/// The kind that both have, else the first's own. Throws Error(io) for profiles without blocks.
ProfileKind first_kind(const std::vector<Profile>& profiles) {
  for (const Profile& profile : profiles)
    if (!profile.sites.empty()) return choose_kind(profile, {});
  throw Error(ExitCode::io, "nothing was recorded");
}

std::string data_of(const FlamePair& pair, const std::vector<Profile>& profiles) {
  FlameDataOptions options;
  options.names = pair.arms;
  options.first = first_kind(profiles);
  return flame_data(profiles[0], profiles.size() > 1 ? &profiles[1] : nullptr, options);
}

}  // namespace

std::vector<FlamePair> flame_pairs(const Results& results, const std::vector<ProfileFile>& files) {
  std::map<std::string, std::uintmax_t> sizes;
  for (const ProfileFile& file : files) sizes["profiles/" + file.name] = file.bytes;
  const ProfileList list = list_profiles(results, files);
  std::vector<FlamePair> pairs;
  for (const OneRole& role : largest_of_each(list, sizes)) add_pairs(pairs, role, results.baseline);
  const CandidateOrder order(results);
  const auto place = [&](const FlamePair& pair) {
    return std::make_pair(place_of(pair.role, results), order.rank(pair.arms.back()));
  };
  std::ranges::stable_sort(
      pairs, [&](const FlamePair& a, const FlamePair& b) { return place(a) < place(b); });
  return pairs;
}

RunFlames load_flames(const std::filesystem::path& directory, const std::vector<FlamePair>& pairs,
                      const ReadProfile& read, const RunFlamesOptions& options) {
  RunFlames flames;
  std::size_t bytes = 0;
  for (const FlamePair& pair : pairs) {
    try {
      std::vector<Profile> profiles(pair.files.size());
      run_parallel(profiles.size(), [&](std::size_t i) {
        profiles[i] = read(directory / pair.files[i]);
        if (options.confidential) make_confidential(profiles[i]);
      });
      std::string packed = base64(gzip(data_of(pair, profiles)));
      if (!flames.shown.empty() && bytes + packed.size() > options.most_bytes) {
        flames.absent.push_back(
            {pair, fmt::format("its {} would make this page too large",
                               format_bytes(static_cast<double>(packed.size())))});
        continue;
      }
      bytes += packed.size();
      flames.shown.push_back({pair, std::move(packed)});
    } catch (const Error& error) {
      const std::string why = error.message();
      flames.absent.push_back({pair, options.confidential ? without_paths(why) : why});
    }
  }
  return flames;
}

void make_confidential(Profile& profile) {
  constexpr std::array kKept = {"allocator",      "amounts", "interval_bytes", "mode",
                                "period_seconds", "program", "temporary",      "tracer"};
  std::erase_if(profile.info, [&](const auto& fact) {
    return std::ranges::find(kKept, fact.first) == kKept.end();
  });
  const auto name_of = [](const std::string& file) {
    return std::filesystem::path(file).filename().string();
  };
  for (auto& [key, value] : profile.info)
    value = key == "program" ? name_of(value) : without_paths(value);
  profile.notes.clear();
  for (ProfileLocation& location : profile.locations)
    for (FrameName& name : location.names) {
      name.function = without_paths(name.function);
      name.file = name_of(name.file);
    }
}

}  // namespace memduel
