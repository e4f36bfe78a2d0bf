#include "reports/run_profiles.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "confidential.h"
#include "external/profile_names.h"
#include "html_page.h"
#include "model/experiment_view.h"
#include "model/metric_catalogue.h"
#include "model/run_directory.h"
#include "profile/outputs.h"
#include "util/command_line.h"
#include "util/error.h"
#include "util/process.h"
#include "util/text.h"
#include "verdict/results.h"

namespace memduel {
namespace {

struct Candidate {
  ListedProfile profile;
  std::size_t tracer = 0;  ///< place in the order of their trials
  std::size_t arm = 0;     ///< place in the results
  std::size_t image = 1;
  std::uintmax_t bytes = 0;
};

std::vector<Candidate> known_profiles(const Results& results,
                                      const std::vector<ProfileFile>& files) {
  std::vector<Candidate> known;
  const std::vector<std::string> tracers = tracers_of(results.trials);
  for (const ProfileFile& file : files) {
    const auto named = profile_name_from(file.name);
    if (!named) continue;
    const auto trial = std::ranges::find_if(results.trials, [&](const TrialData& one) {
      return one.id == named->trial && one.kind == TrialKind::profile &&
             one.tracer == named->tracer;
    });
    if (trial == results.trials.end()) continue;
    const auto arm = std::ranges::find_if(
        results.arms, [&](const ArmSummary& one) { return one.name == trial->arm; });
    const auto tracer = std::ranges::find(tracers, trial->tracer);
    known.push_back(
        {{"profiles/" + file.name, trial->arm, named->role, trial->id, trial->tracer, named->round},
         static_cast<std::size_t>(tracer - tracers.begin()),
         static_cast<std::size_t>(arm - results.arms.begin()),
         named->image,
         file.bytes});
  }
  const auto place = [](const Candidate& one) {
    return std::tie(one.tracer, one.profile.role, one.arm, one.profile.trial, one.image,
                    one.profile.round, one.profile.file);
  };
  std::ranges::sort(known,
                    [&](const Candidate& a, const Candidate& b) { return place(a) < place(b); });
  return known;
}

/// Which tracer looked at which role.
using Looked = std::pair<std::size_t, std::string>;

/// Of each tracer, role and arm the largest file of its first trial.
std::map<Looked, std::vector<Candidate>> largest_by_role(const std::vector<Candidate>& all) {
  std::map<Looked, std::vector<Candidate>> roles;
  for (const Candidate& one : all) {
    if (one.profile.round) continue;
    std::vector<Candidate>& chosen = roles[{one.tracer, one.profile.role}];
    if (chosen.empty() || chosen.back().arm != one.arm) {
      chosen.push_back(one);
    } else if (chosen.back().profile.trial == one.profile.trial &&
               chosen.back().bytes < one.bytes) {
      chosen.back() = one;
    }
  }
  return roles;
}

/// Commands by the paths that files have from where the reader is.
class FlamegraphCommands {
 public:
  explicit FlamegraphCommands(const std::filesystem::path& directory) : directory_(directory) {}

  void add(const std::string& file) { add_words({path_of(file)}); }
  void add_difference(const std::string& first, const std::string& second) {
    add_words({path_of(first), "--diff", path_of(second)});
  }
  [[nodiscard]] std::vector<std::string> take() { return std::move(commands_); }

 private:
  [[nodiscard]] std::string path_of(const std::string& file) const {
    return (directory_ / file).string();
  }
  void add_words(const std::vector<std::string>& words) {
    std::vector<std::string> command = {"memduel", "flamegraph"};
    command.insert(command.end(), words.begin(), words.end());
    commands_.push_back(quoted_command_line(command));
  }

  const std::filesystem::path& directory_;
  std::vector<std::string> commands_;
};

void add_round_commands(FlamegraphCommands& commands, const std::vector<Candidate>& all) {
  // Dumps of one image follow one another.
  for (std::size_t first = 0; first < all.size();) {
    const auto same_image = [&](const Candidate& one) {
      return one.profile.trial == all[first].profile.trial &&
             one.profile.role == all[first].profile.role && one.image == all[first].image;
    };
    std::size_t end = first;
    std::vector<const Candidate*> dumps;
    for (; end < all.size() && same_image(all[end]); ++end)
      if (all[end].profile.round) dumps.push_back(&all[end]);
    if (dumps.size() > 1)
      commands.add_difference(dumps.front()->profile.file, dumps.back()->profile.file);
    first = end;
  }
}

std::vector<std::string> flamegraph_commands(const std::vector<Candidate>& all,
                                             const std::string& baseline,
                                             const std::filesystem::path& directory) {
  FlamegraphCommands commands(directory);
  for (const auto& [looked, chosen] : largest_by_role(all)) {
    const auto first = std::ranges::find_if(
        chosen, [&](const Candidate& one) { return one.profile.arm == baseline; });
    for (const Candidate& one : chosen) {
      if (first == chosen.end() || chosen.size() == 1) {
        commands.add(one.profile.file);
      } else if (one.profile.arm != baseline) {
        commands.add_difference(first->profile.file, one.profile.file);
      }
    }
  }
  add_round_commands(commands, all);
  return commands.take();
}

/// "1 trial": what the medians are of.
std::string trials_behind(const Perturbation& cost, const Results& results) {
  const auto count = std::ranges::count_if(results.trials, [&](const TrialData& trial) {
    return trial.kind == TrialKind::profile && trial.status == TrialStatus::ok &&
           trial.arm == cost.arm && trial.tracer == cost.tracer;
  });
  return format_count(count, "trial");
}

std::string cost_of_an_arm(const Perturbation& cost, const Results& results) {
  std::string text = cost.arm;
  if (cost.wall_ratio) text += fmt::format(" took {:.2f} times as long", *cost.wall_ratio);
  if (cost.wall_ratio && cost.peak_rss_ratio) text += " and";
  if (cost.peak_rss_ratio)
    text += fmt::format(" peaked at {:.2f} times its RSS", *cost.peak_rss_ratio);
  return fmt::format("{} ({})", text, trials_behind(cost, results));
}

/// "Under heaptrack, a took 30.10 times as long … (1 trial); b took …"
std::vector<std::string> perturbation_sentences(const Results& results) {
  std::vector<std::string> sentences;
  const Perturbation* before = nullptr;
  for (const Perturbation& cost : results.perturbation) {
    if (!cost.wall_ratio && !cost.peak_rss_ratio) continue;
    if (before != nullptr && before->tracer == cost.tracer) {
      sentences.back().back() = ';';
      sentences.back() += " " + cost_of_an_arm(cost, results) + ".";
    } else {
      sentences.push_back(fmt::format("Under {}{}, {}.",
                                      cost.tracer == kRecorderTracer ? "the " : "", cost.tracer,
                                      cost_of_an_arm(cost, results)));
    }
    before = &cost;
  }
  return sentences;
}

}  // namespace

ProfileList list_profiles(const Results& results, const std::vector<ProfileFile>& files,
                          const std::filesystem::path& directory) {
  ProfileList list;
  const std::vector<Candidate> known = known_profiles(results, files);
  for (const Candidate& one : known) list.profiles.push_back(one.profile);
  list.commands = flamegraph_commands(known, results.baseline, directory);
  list.sentences = perturbation_sentences(results);
  return list;
}

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

namespace {

/// The data of a pair, or why there are none.
struct PackedFlame {
  std::string packed;
  std::string why;
};

PackedFlame packed_flame(const std::filesystem::path& directory, const FlamePair& pair,
                         const ReadProfile& read, const RunFlamesOptions& options) {
  try {
    std::vector<Profile> profiles(pair.files.size());
    run_parallel(profiles.size(), [&](std::size_t i) {
      profiles[i] = read(directory / pair.files[i]);
      if (options.confidential) make_confidential(profiles[i]);
    });
    return {base64(gzip(data_of(pair, profiles))), ""};
  } catch (const Error& error) {
    const std::string why = error.message();
    return {"", options.confidential ? without_paths(why) : why};
  }
}

}  // namespace

RunFlames load_flames(const std::filesystem::path& directory, const std::vector<FlamePair>& pairs,
                      const ReadProfile& read, const RunFlamesOptions& options) {
  std::vector<PackedFlame> all(pairs.size());
  run_parallel(all.size(),
               [&](std::size_t i) { all[i] = packed_flame(directory, pairs[i], read, options); });
  RunFlames flames;
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    auto& [packed, why] = all[i];
    if (why.empty() && !flames.shown.empty() && bytes + packed.size() > options.most_bytes)
      why = fmt::format("its {} would make this page too large",
                        format_bytes(static_cast<double>(packed.size())));
    if (!why.empty()) {
      flames.absent.push_back({pairs[i], std::move(why)});
      continue;
    }
    bytes += packed.size();
    flames.shown.push_back({pairs[i], std::move(packed)});
  }
  return flames;
}

void make_confidential(Profile& profile) {
  constexpr std::array kKept = {"allocator",      "amounts", "interval_bytes", "mode",
                                "period_seconds", "program", "temporary",      "profiler"};
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
