#include "reports/profile_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <tuple>

namespace memduel {
namespace {

/// "7-client-1.2.mdp" is of trial 7 and role client-1.
std::optional<std::pair<std::int64_t, std::string>> trial_and_role(const std::string& name) {
  std::int64_t trial = 0;
  const char* end = name.data() + name.size();
  const auto [dash, failure] = std::from_chars(name.data(), end, trial);
  if (failure != std::errc() || dash == end || *dash != '-' || !name.ends_with(".mdp")) return {};
  const std::string rest(dash + 1, end);
  return std::pair(trial, rest.substr(0, rest.find('.')));
}

struct Candidate {
  ListedProfile profile;
  std::size_t arm = 0;  ///< place in the results
  std::uintmax_t bytes = 0;
};

std::vector<Candidate> known_profiles(const Results& results,
                                      const std::vector<ProfileFile>& files) {
  std::vector<Candidate> known;
  for (const ProfileFile& file : files) {
    const auto named = trial_and_role(file.name);
    if (!named) continue;
    const auto trial =
        std::find_if(results.trials.begin(), results.trials.end(), [&](const TrialData& one) {
          return one.id == named->first && one.kind == TrialKind::profile;
        });
    if (trial == results.trials.end()) continue;
    const auto arm = std::find_if(results.arms.begin(), results.arms.end(),
                                  [&](const ArmSummary& one) { return one.name == trial->arm; });
    known.push_back({{"profiles/" + file.name, trial->arm, named->second, trial->id},
                     static_cast<std::size_t>(arm - results.arms.begin()),
                     file.bytes});
  }
  std::sort(known.begin(), known.end(), [](const Candidate& a, const Candidate& b) {
    return std::tie(a.profile.role, a.arm, a.profile.trial, a.profile.file) <
           std::tie(b.profile.role, b.arm, b.profile.trial, b.profile.file);
  });
  return known;
}

/// Of each role and arm the largest file of its first trial.
std::map<std::string, std::vector<Candidate>> largest_by_role(const std::vector<Candidate>& all) {
  std::map<std::string, std::vector<Candidate>> roles;
  for (const Candidate& one : all) {
    std::vector<Candidate>& chosen = roles[one.profile.role];
    if (chosen.empty() || chosen.back().arm != one.arm) {
      chosen.push_back(one);
    } else if (chosen.back().profile.trial == one.profile.trial &&
               chosen.back().bytes < one.bytes) {
      chosen.back() = one;
    }
  }
  return roles;
}

std::vector<std::string> flamegraph_commands(const std::vector<Candidate>& all,
                                             const std::string& baseline) {
  std::vector<std::string> commands;
  for (const auto& [role, chosen] : largest_by_role(all)) {
    const auto first = std::find_if(chosen.begin(), chosen.end(), [&](const Candidate& one) {
      return one.profile.arm == baseline;
    });
    for (const Candidate& one : chosen) {
      if (first == chosen.end() || chosen.size() == 1) {
        commands.push_back("memduel flamegraph " + one.profile.file);
      } else if (one.profile.arm != baseline) {
        commands.push_back(
            fmt::format("memduel flamegraph {} --diff {}", first->profile.file, one.profile.file));
      }
    }
  }
  return commands;
}

std::string perturbation_sentence(const Perturbation& cost) {
  std::string text = fmt::format("Under the {}, {}", cost.tracer, cost.arm);
  if (cost.wall_ratio) text += fmt::format(" took {:.2f} times as long", *cost.wall_ratio);
  if (cost.wall_ratio && cost.peak_rss_ratio) text += " and";
  if (cost.peak_rss_ratio)
    text += fmt::format(" peaked at {:.2f} times its RSS", *cost.peak_rss_ratio);
  return text + ".";
}

}  // namespace

ProfileList list_profiles(const Results& results, const std::vector<ProfileFile>& files) {
  ProfileList list;
  const std::vector<Candidate> known = known_profiles(results, files);
  for (const Candidate& one : known) list.profiles.push_back(one.profile);
  list.commands = flamegraph_commands(known, results.baseline);
  for (const Perturbation& cost : results.perturbation)
    if (cost.wall_ratio || cost.peak_rss_ratio)
      list.sentences.push_back(perturbation_sentence(cost));
  return list;
}

}  // namespace memduel
