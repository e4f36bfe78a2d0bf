#include "reports/tables/profile_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "analysis/values/experiment_view.h"
#include "base/command_line.h"
#include "base/profile_name.h"
#include "base/text.h"

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

}  // namespace memduel
