#include "run/shares.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "model/run_directory.h"
#include "run/run.h"
#include "run/store.h"
#include "util/error.h"
#include "util/file.h"
#include "util/text.h"

namespace memduel {
namespace {

constexpr int kMostShares = 100'000;

/// 0 for anything but a number from 1 on.
int count_in(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && value >= 1 && value <= kMostShares ? value : 0;
}

}  // namespace

Share share_from(const std::string& text, const std::string& place) {
  const std::size_t slash = text.find('/');
  if (slash != std::string::npos) {
    const Share share{count_in(std::string_view(text).substr(0, slash)),
                      count_in(std::string_view(text).substr(slash + 1))};
    if (share.number > 0 && share.number <= share.of) return share;
  }
  throw Error(ExitCode::usage,
              fmt::format("expected a shard such as 2/4 (the second of four), found \"{}\"", text),
              place);
}

std::string to_text(const Share& share) {
  return fmt::format("{}/{}", share.number, share.of);
}

SuperblockRange superblocks_of(const Share& share, int blocks) {
  if (blocks % 2 != 0)
    throw Error(
        ExitCode::usage,
        fmt::format("expected an even number, because a shard has whole block pairs, found {}",
                    blocks),
        "--repeats");
  const int superblocks = blocks / 2;
  if (share.of > superblocks)
    throw Error(ExitCode::usage,
                fmt::format("expected at most {} shards of {} trials each, found {}", superblocks,
                            blocks, share.of),
                "--shard", "give a larger --repeats, or fewer shards");
  const auto begin = [&](int number) {
    return static_cast<int>(static_cast<std::int64_t>(number) * superblocks / share.of);
  };
  return {begin(share.number - 1), begin(share.number)};
}

namespace {

namespace fs = std::filesystem;

struct Part {
  fs::path directory;
  Share share;
  RunData run;
  std::map<std::string, std::string> programs;
  std::map<std::int64_t, std::int64_t> new_ids;  ///< of the trials that are in the merged run
};

[[noreturn]] void refuse(const Part& part, const std::string& problem, const std::string& advice) {
  throw Error(ExitCode::usage, problem, part.directory.string(), advice);
}

Part read_part(const fs::path& directory, WithSeries series) {
  Part part;
  part.directory = directory;
  part.run = read_kept_run(directory, series);
  part.programs = read_programs(directory);
  const auto share = part.run.environment.find(kShareKey);
  if (share == part.run.environment.end() || !share->is_string())
    refuse(part, "is a complete run, expected a shard",
           "measure shards with memduel run CONFIG --shard I/N");
  part.share = share_from(share->get<std::string>(), directory.string());
  return part;
}

/// Of what all shares must have in common.
void refuse_others(const std::vector<Part>& parts) {
  const Part& first = parts.front();
  for (const Part& part : parts) {
    if (part.run.config_sha256 != first.run.config_sha256)
      refuse(part,
             fmt::format("is a shard of another plan than {}: its config or its seed differs",
                         first.directory.string()),
             "use the same config, --repeats and --seed for every shard");
    if (part.share.of != first.share.of)
      refuse(part,
             fmt::format("is shard {}, but {} is {}", to_text(part.share), first.directory.string(),
                         to_text(first.share)),
             "use the same number of shards everywhere");
    for (const auto& [path, sha256] : part.programs) {
      const auto other = first.programs.find(path);
      if (other != first.programs.end() && other->second != sha256)
        refuse(part, fmt::format("ran another build of {} than {}", path, first.directory.string()),
               "measure all shards with the same programs");
    }
  }
  for (std::size_t i = 1; i < parts.size(); ++i)
    if (parts[i].share.number == parts[i - 1].share.number)
      refuse(parts[i],
             fmt::format("is shard {}, and so is {}", to_text(parts[i].share),
                         parts[i - 1].directory.string()),
             "pass each shard once");
}

/// Warm-ups and profiles are the first share's; blocks are everyone's.
bool belongs(const TrialData& trial, bool first) {
  return first || trial.kind == TrialKind::measure;
}

struct MergedTrial {
  Part* part;
  const TrialData* trial;
};

/// In the order in which one machine would have run them.
std::vector<MergedTrial> trials_of(std::vector<Part>& parts) {
  std::vector<MergedTrial> trials;
  for (Part& part : parts)
    for (const TrialData& trial : part.run.trials)
      if (belongs(trial, &part == &parts.front())) trials.push_back({&part, &trial});
  const auto place = [](const MergedTrial& one) {
    const TrialData& trial = *one.trial;
    const int stage = trial.kind == TrialKind::warmup    ? 0
                      : trial.kind == TrialKind::measure ? 1
                                                         : 2;
    return std::make_tuple(stage, stage == 1 ? (trial.block - 1) / 2 : 0,
                           stage == 1 ? trial.position : 0, trial.id);
  };
  std::ranges::sort(trials, {}, place);
  return trials;
}

std::string machine_of(const nlohmann::json& environment) {
  std::string words = environment.value("cpu", "unknown CPU");
  for (const char* key : {"kernel", "glibc"})
    if (environment.contains(key) && environment[key].is_string())
      words += fmt::format(", {} {}", key, environment[key].get<std::string>());
  return words;
}

void note_machines(const std::vector<Part>& parts, Store& store) {
  std::map<std::string, std::string> machines;  // by fingerprint
  for (const Part& part : parts) {
    const std::string print = part.run.environment.value("fingerprint", "");
    std::string& words = machines[print];
    words += words.empty() ? machine_of(part.run.environment) + ": shards " : ", ";
    words += std::to_string(part.share.number);
  }
  if (machines.size() < 2) return;
  std::string all;
  for (const auto& [print, words] : machines) all += (all.empty() ? "" : "; ") + words;
  store.add_warning(
      {"machines_differ",
       fmt::format("the shards were measured on {} kinds of machine ({})", machines.size(), all),
       "each block pair ran on one machine, so the comparison stays fair; absolute "
       "numbers combine all machines"});
}

int repeats_of(const Part& part) {
  const std::optional<int>& repeats = part.run.config.measure.repeats;
  if (!repeats) refuse(part, "its config has no fixed number of trials", "");
  return *repeats;
}

/// Those of which every arm has a trial.
int whole_blocks(const Part& part) {
  std::map<int, std::set<std::string>> arms;  // by block
  for (const TrialData& trial : part.run.trials)
    if (trial.kind == TrialKind::measure) arms[trial.block].insert(trial.arm);
  const std::size_t all = part.run.config.variants.size();
  return static_cast<int>(
      std::ranges::count_if(arms, [&](const auto& block) { return block.second.size() >= all; }));
}

void note_gaps(const std::vector<Part>& parts, Store& store) {
  const int of = parts.front().share.of;
  const int repeats = repeats_of(parts.front());
  std::map<int, const Part*> by_number;
  for (const Part& part : parts) by_number[part.share.number] = &part;
  for (int number = 1; number <= of; ++number) {
    const Share share{number, of};
    const SuperblockRange range = superblocks_of(share, repeats);
    const auto part = by_number.find(number);
    const int blocks = part == by_number.end() ? 0 : whole_blocks(*part->second);
    if (blocks >= range.blocks()) continue;
    store.add_warning({"shard_missing",
                       fmt::format("shard {} {}: of blocks {} to {} it has {}", to_text(share),
                                   part == by_number.end() ? "is missing" : "was not finished",
                                   2 * range.first + 1, 2 * range.end, blocks),
                       fmt::format("rerun it with --shard {} and merge again", to_text(share))});
  }
}

nlohmann::json environment_of(const std::vector<Part>& parts) {
  nlohmann::json environment = parts.front().run.environment;
  environment.erase(kShareKey);
  environment["shards"] = nlohmann::json::array();
  for (const Part& part : parts) {
    nlohmann::json one = {{kShareKey, to_text(part.share)}};
    for (const char* key : {"fingerprint", "cpu", "kernel", "date", "load"})
      if (part.run.environment.contains(key)) one[key] = part.run.environment[key];
    environment["shards"].push_back(std::move(one));
  }
  return environment;
}

/// The largest differences that any share saw; bits that differ before bits that do not.
void merge_artifacts(const std::vector<Part>& parts, Store& store) {
  std::vector<ArtifactDifference> merged;
  const auto size = [](const ArtifactDifference& one) {
    return std::make_pair(!one.bit_identical, one.max_difference.value_or(-1));
  };
  for (const Part& part : parts) {
    for (const ArtifactDifference& one : part.run.artifact_differences) {
      const auto found = std::ranges::find_if(merged, [&](const ArtifactDifference& other) {
        return other.baseline == one.baseline && other.candidate == one.candidate &&
               other.artifact == one.artifact;
      });
      if (found == merged.end()) {
        merged.push_back(one);
        continue;
      }
      const auto within = std::max(found->max_within_baseline, one.max_within_baseline);
      if (size(one) > size(*found)) *found = one;
      found->max_within_baseline = within;
    }
  }
  store.set_artifact_differences(merged);
}

/// Trial and the rest of a name such as "12-server.stdout".
std::optional<std::pair<std::int64_t, std::string>> trial_file(const std::string& name) {
  std::int64_t id = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), id);
  if (error != std::errc() || end == name.data() + name.size() || *end != '-') return std::nullopt;
  return std::pair(id, std::string(end, name.data() + name.size()));
}

void take_over(const fs::path& from, const fs::path& to) {
  std::error_code failed;
  fs::create_directories(to.parent_path(), failed);
  if (!failed) fs::copy_file(from, to, fs::copy_options::skip_existing, failed);
  if (failed)
    throw Error(ExitCode::io, fmt::format("cannot copy to {}: {}", to.string(), failed.message()),
                from.string());
}

/// Logs and profiles are named for their trials; models and files for what is in them.
void copy_files(const Part& part, const fs::path& out) {
  for (const char* folder : {kLogsFolder, kProfilesFolder, kModelsFolder, kFilesFolder}) {
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(part.directory / folder, none)) {
      if (!entry.is_regular_file(none)) continue;
      const std::string name = entry.path().filename().string();
      const auto of_trial = trial_file(name);
      if (!of_trial) {
        take_over(entry.path(), out / folder / name);
      } else if (const auto id = part.new_ids.find(of_trial->first); id != part.new_ids.end()) {
        take_over(entry.path(), out / folder / fmt::format("{}{}", id->second, of_trial->second));
      }
    }
  }
}

/// All of it, into a directory that is not there yet.
void merge_into(std::vector<Part>& parts, const fs::path& directory) {
  const RunData& first = parts.front().run;
  Store store = Store::create(directory, {first.config, first.config_sha256, first.job,
                                          environment_of(parts), parts.front().programs});
  std::int64_t next = 1;
  for (const auto& [part, trial] : trials_of(parts)) {
    TrialData renumbered = *trial;
    renumbered.id = next++;
    part->new_ids[trial->id] = renumbered.id;
    store.add_trial(renumbered);
  }
  note_machines(parts, store);
  note_gaps(parts, store);
  for (const Part& part : parts) {
    for (const Note& note : part.run.limitations) store.add_limitation(note);
    for (const Note& note : part.run.warnings) store.add_warning(note);
  }
  merge_artifacts(parts, store);
  for (const Part& part : parts) copy_files(part, directory);
  const fs::path calibration = parts.front().directory / kCalibrationFile;
  if (is_there(calibration)) take_over(calibration, directory / kCalibrationFile);
}

/// Beside where it will be, so that a rename is enough; gone where it did not come to that.
class Staging {
 public:
  explicit Staging(const fs::path& out)
      : path_(fs::absolute(out / ".").lexically_normal().parent_path()) {
    path_ += fmt::format(".merging-{}", getpid());
  }
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;
  ~Staging() {
    std::error_code gone;
    fs::remove_all(path_, gone);
  }
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

}  // namespace

bool is_whole_share(const fs::path& directory) {
  try {
    const Part part = read_part(directory, WithSeries::no);
    const int planned = superblocks_of(part.share, repeats_of(part)).blocks();
    return whole_blocks(part) >= planned;
  } catch (const Error&) {
    return false;
  }
}

void merge_shares(const std::vector<fs::path>& directories, const fs::path& out) {
  std::vector<Part> parts;
  for (const fs::path& directory : directories)
    parts.push_back(read_part(directory, WithSeries::yes));
  std::ranges::stable_sort(parts, {}, [](const Part& part) { return part.share.number; });
  refuse_others(parts);
  refuse_used_directory(out, "use another --out");
  const Staging staging(out);
  merge_into(parts, staging.path());
  std::error_code failed;
  fs::rename(staging.path(), out, failed);
  if (failed)
    throw Error(ExitCode::io, "cannot put the merged run there: " + failed.message(), out.string(),
                "use an --out that does not exist yet");
}

}  // namespace memduel
