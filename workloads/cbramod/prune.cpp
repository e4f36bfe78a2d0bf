#include "training/prune.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <set>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "training/checkpoint_name.h"
#include "training/held_directory.h"

namespace memduel {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> metrics_in(const CheckpointTree& tree) {
  std::set<std::string> metrics;
  for (const CheckpointDirectory& directory : tree.directories)
    for (const Checkpoint& checkpoint : directory.checkpoints)
      for (const auto& [metric, value] : checkpoint.metrics) metrics.insert(metric);
  return {metrics.begin(), metrics.end()};
}

void expect_known_names(const CheckpointTree& tree) {
  if (!tree.directories.empty()) return;
  const auto unknown = std::ranges::find_if(tree.left_alone, [](const LeftAlone& one) {
    return ends_as_checkpoint(one.path.filename().string());
  });
  if (unknown == tree.left_alone.end()) return;
  throw Error(
      ExitCode::usage,
      fmt::format("{}; found no checkpoint in {}", unknown->why, tree.root.string()),
      (tree.root / unknown->path).string(),
      "expected epoch12_kappa_0.71.pth, epoch=12-kappa=0.71.ckpt, or NAME.pth and NAME.pth.json");
}

void expect_metric(const CheckpointTree& tree, const std::string& metric) {
  const std::vector<std::string> known = metrics_in(tree);
  if (tree.directories.empty() || std::ranges::find(known, metric) != known.end()) return;
  const std::optional<std::string> nearest = nearest_name(metric, known);
  std::string advice = known.empty() ? "no name and no sidecar has a metric"
                                     : fmt::format("they have {}", fmt::join(known, ", "));
  if (nearest) advice += fmt::format("; did you mean {}?", *nearest);
  throw Error(ExitCode::usage,
              fmt::format("found no checkpoint with the metric \"{}\" among {}", metric,
                          checkpoint_count(tree)),
              tree.root.string(), advice);
}

/// The directory `below` the root, link by link, so that nothing leads out of the root.
HeldDirectory hold(const fs::path& root, const fs::path& below) {
  HeldDirectory directory(root);
  for (const fs::path& name : below) directory = directory.child(name.string());
  return directory;
}

/// Removals come directory by directory; this holds the one that they have come to.
class DirectoryAtHand {
 public:
  explicit DirectoryAtHand(fs::path root) : root_(std::move(root)) {}

  const HeldDirectory& of(const Removal& removal) {
    if (!held_ || below_ != removal.below) held_ = hold(root_, removal.below);
    below_ = removal.below;
    return *held_;
  }

 private:
  fs::path root_;
  fs::path below_;
  std::optional<HeldDirectory> held_;
};

void expect_permission(const HeldDirectory& directory, const DirectoryEntry& file) {
  if (!directory.may_remove(file.name))
    throw Error(ExitCode::io, "no permission to remove it; nothing was removed",
                (directory.path() / file.name).string());
}

void expect_permission(const PrunePlan& plan) {
  DirectoryAtHand at_hand(plan.tree.root);
  for (const Removal& removal : plan.removals) {
    const HeldDirectory& directory = at_hand.of(removal);
    expect_permission(directory, removal.checkpoint.file);
    if (removal.checkpoint.sidecar) expect_permission(directory, *removal.checkpoint.sidecar);
  }
}

/// A sidecar that has come since counts as a change: it would have counted more than the name.
bool is_unchanged(const HeldDirectory& directory, const Checkpoint& checkpoint) {
  const std::optional<DirectoryEntry> file = directory.look(checkpoint.file.name);
  const std::optional<DirectoryEntry> sidecar = directory.look(sidecar_name(checkpoint.file.name));
  return file && file->is_same_as(checkpoint.file) &&
         sidecar.has_value() == checkpoint.sidecar.has_value() &&
         (!sidecar || sidecar->is_same_as(*checkpoint.sidecar));
}

/// The sidecar last: alone it is only in the way, a checkpoint without it has lost its metrics.
void remove_checkpoint(const HeldDirectory& directory, const Checkpoint& checkpoint) {
  if (!is_unchanged(directory, checkpoint))
    throw Error(ExitCode::io, "changed since it was looked at",
                (directory.path() / checkpoint.file.name).string());
  directory.remove(checkpoint.file.name);
  if (checkpoint.sidecar) directory.remove(checkpoint.sidecar->name);
}

}  // namespace

PrunePlan plan_prune(const fs::path& root, const RetentionRules& rules, std::int64_t now_ns,
                     Subdirectories subdirectories) {
  PrunePlan plan{read_checkpoints(root, subdirectories), rules, now_ns, {}};
  expect_known_names(plan.tree);
  expect_metric(plan.tree, rules.metric);
  for (const CheckpointDirectory& directory : plan.tree.directories)
    for (const std::size_t i : superfluous_checkpoints(directory.checkpoints, rules, now_ns))
      plan.removals.push_back({directory.below, directory.checkpoints[i]});
  expect_permission(plan);
  return plan;
}

Pruned carry_out(const PrunePlan& plan) {
  Pruned done;
  DirectoryAtHand at_hand(plan.tree.root);
  for (const Removal& removal : plan.removals) {
    try {
      remove_checkpoint(at_hand.of(removal), removal.checkpoint);
      done.removed.push_back(removal);
    } catch (const Error& error) {
      done.failures.push_back(error.message());
    }
  }
  return done;
}

std::int64_t removed_bytes(const std::vector<Removal>& removals) {
  std::int64_t bytes = 0;
  for (const Removal& removal : removals) bytes += bytes_of(removal.checkpoint);
  return bytes;
}

std::int64_t freed_bytes(const std::vector<Removal>& removals) {
  std::int64_t bytes = 0;
  for (const Removal& removal : removals) bytes += freed_bytes_of(removal.checkpoint);
  return bytes;
}

std::int64_t wall_clock_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

Pruned save_checkpoint(const fs::path& directory, const std::string& name, std::string_view bytes,
                       const RetentionRules& rules) {
  std::error_code failed;
  fs::create_directories(directory, failed);
  if (failed)
    throw Error(ExitCode::io, "cannot make the directory: " + failed.message(), directory.string());
  write_file_atomically(directory / name, bytes);
  return carry_out(plan_prune(directory, rules, wall_clock_ns(), Subdirectories::skip));
}

}  // namespace memduel
