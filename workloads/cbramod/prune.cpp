#include "cbramod/prune.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <tuple>

#include "cbramod/checkpoint_tree.h"
#include "checkpoint_name.h"
#include "util/error.h"
#include "util/file.h"
#include "util/text.h"

namespace memduel {
namespace {

constexpr auto kScores = std::to_array<std::string_view>(
    {"acc",    "accuracy", "ap",    "auc",         "auprc",       "auroc", "bleu",
     "dice",   "f1",       "f2",    "iou",         "jaccard",     "kappa", "map",
     "mcc",    "miou",     "mrr",   "ndcg",        "precision",   "psnr",  "r2",
     "recall", "rouge",    "score", "sensitivity", "specificity", "ssim"});

constexpr auto kOfWhat = std::to_array<std::string_view>(
    {"avg",  "balanced", "best", "binary", "class",      "cohen",   "cohens", "dev",
     "eval", "macro",    "mean", "micro",  "multiclass", "pr",      "roc",    "test",
     "top",  "train",    "val",  "valid",  "validation", "weighted"});

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool is_in_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

template <class Words>
bool holds(const Words& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

/// The word without the number at its end: of top5, map50.
std::string_view without_number(std::string_view word) {
  return word.substr(0, word.find_last_not_of("0123456789") + 1);
}

}  // namespace

bool is_known_score(std::string_view metric) {
  std::string name(metric);
  std::ranges::transform(name, name.begin(), lower);
  bool has_score = false;
  for (auto at = name.begin(); at != name.end();) {
    const auto end = std::find_if_not(at, name.end(), is_in_word);
    const std::string_view word(at, end);
    const std::string_view plain = without_number(word);
    if (holds(kScores, word) || holds(kScores, plain))
      has_score = true;
    else if (!plain.empty() && !holds(kOfWhat, plain))
      return false;
    at = std::find_if(end, name.end(), is_in_word);
  }
  return has_score;
}

namespace {

auto age_order(const Checkpoint& checkpoint) {
  return std::make_tuple(checkpoint.file.modified_ns, checkpoint.epoch.value_or(-1),
                         std::string_view(checkpoint.file.name));
}

double score(const Checkpoint& checkpoint, const RetentionRules& rules) {
  const double value = checkpoint.metrics.at(rules.metric);
  if (!std::isfinite(value)) return -std::numeric_limits<double>::infinity();
  return rules.better == Better::highest ? value : -value;
}

}  // namespace

double age_in_days(const Checkpoint& checkpoint, std::int64_t now_ns) {
  constexpr double kDay = 86400e9;
  return (static_cast<double>(now_ns) - static_cast<double>(checkpoint.file.modified_ns)) / kDay;
}

std::vector<std::size_t> superfluous_checkpoints(const std::vector<Checkpoint>& checkpoints,
                                                 const RetentionRules& rules, std::int64_t now_ns) {
  std::vector<std::size_t> best_first;
  for (std::size_t i = 0; i < checkpoints.size(); ++i)
    if (checkpoints[i].metrics.contains(rules.metric)) best_first.push_back(i);
  if (best_first.empty()) return {};
  const std::size_t newest =
      *std::ranges::max_element(best_first, [&](std::size_t a, std::size_t b) {
        return age_order(checkpoints[a]) < age_order(checkpoints[b]);
      });
  const bool by_age = rules.ranking == Ranking::by_age;
  std::ranges::sort(best_first, [&](std::size_t a, std::size_t b) {
    if (by_age) return age_order(checkpoints[a]) > age_order(checkpoints[b]);
    const double score_a = score(checkpoints[a], rules);
    const double score_b = score(checkpoints[b], rules);
    return score_a != score_b ? score_a > score_b
                              : age_order(checkpoints[a]) > age_order(checkpoints[b]);
  });
  std::vector<std::size_t> removed;
  for (std::size_t rank = std::max<std::size_t>(1, rules.keep_best); rank < best_first.size();
       ++rank) {
    const std::size_t i = best_first[rank];
    const bool is_old = by_age || age_in_days(checkpoints[i], now_ns) > rules.older_than_days;
    if (i != newest && is_old) removed.push_back(i);
  }
  std::ranges::sort(removed);
  return removed;
}

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
  std::string advice = known.empty() ? "neither names nor sidecars contain a metric"
                                     : fmt::format("found {}", fmt::join(known, ", "));
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
    throw Error(ExitCode::io, "changed while pruning",
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
    throw Error(ExitCode::io, "cannot create the directory: " + failed.message(),
                directory.string());
  write_file_atomically(directory / name, bytes);
  return carry_out(plan_prune(directory, rules, wall_clock_ns(), Subdirectories::skip));
}

}  // namespace memduel
