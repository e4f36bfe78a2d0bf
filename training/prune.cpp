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

void expect_metric(const CheckpointTree& tree, const std::string& metric) {
  const std::vector<std::string> known = metrics_in(tree);
  if (tree.directories.empty() || std::find(known.begin(), known.end(), metric) != known.end())
    return;
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

void expect_permission(const PrunePlan& plan) {
  std::set<fs::path> places;
  for (const Removal& removal : plan.removals) places.insert(removal.below);
  for (const fs::path& below : places) {
    const HeldDirectory directory = hold(plan.tree.root, below);
    if (!directory.may_remove())
      throw Error(ExitCode::io, "no permission to remove checkpoints here; nothing was removed",
                  directory.path().string());
  }
}

bool is_unchanged(const HeldDirectory& directory, const Checkpoint& checkpoint) {
  const std::optional<DirectoryEntry> now = directory.look(checkpoint.name);
  return now && now->kind == EntryKind::file && now->inode == checkpoint.inode &&
         now->modified_ns == checkpoint.modified_ns;
}

/// The sidecar last: alone it is only in the way, a checkpoint without it has lost its metrics.
void remove_checkpoint(const HeldDirectory& directory, const Checkpoint& checkpoint) {
  if (!is_unchanged(directory, checkpoint))
    throw Error(ExitCode::io, "changed since it was looked at",
                (directory.path() / checkpoint.name).string());
  directory.remove(checkpoint.name);
  if (checkpoint.has_sidecar) directory.remove(checkpoint.name + ".json");
}

}  // namespace

PrunePlan plan_prune(const fs::path& root, const RetentionRules& rules, std::int64_t now_ns,
                     Subdirectories subdirectories) {
  PrunePlan plan{read_checkpoints(root, subdirectories), rules, now_ns, {}};
  expect_metric(plan.tree, rules.metric);
  for (const CheckpointDirectory& directory : plan.tree.directories)
    for (const std::size_t i : superfluous_checkpoints(directory.checkpoints, rules, now_ns))
      plan.removals.push_back({directory.below, directory.checkpoints[i]});
  expect_permission(plan);
  return plan;
}

Pruned carry_out(const PrunePlan& plan) {
  Pruned done;
  std::optional<HeldDirectory> directory;
  const Removal* before = nullptr;
  for (const Removal& removal : plan.removals) {
    try {
      if (before == nullptr || before->below != removal.below)
        directory = hold(plan.tree.root, removal.below);
      before = &removal;
      remove_checkpoint(*directory, removal.checkpoint);
      done.removed.push_back(removal);
    } catch (const Error& error) {
      done.failures.push_back(error.message());
    }
  }
  return done;
}

std::int64_t removed_bytes(const std::vector<Removal>& removals) {
  std::int64_t bytes = 0;
  for (const Removal& removal : removals) bytes += removal.checkpoint.bytes;
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
