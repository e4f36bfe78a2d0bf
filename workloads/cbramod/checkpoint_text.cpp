#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cbramod/prune.h"
#include "util/text.h"

namespace memduel {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostLeftAlone = 10;

std::string shown(const fs::path& path) {
  return escape_terminal(path.string());
}

std::string counted(std::size_t count, const char* one, const char* many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

std::string count_and_bytes(std::size_t count, std::int64_t bytes) {
  return fmt::format("{}, {}", counted(count, "checkpoint", "checkpoints"),
                     format_bytes(static_cast<double>(bytes)));
}

std::string describe_root(const CheckpointTree& tree) {
  return fmt::format("directory: {}\n", shown(tree.root));
}

std::string describe_rules(const RetentionRules& rules) {
  return fmt::format(
      "kept in each directory: the {} with the {} {}, the newest, and all not older than {} days\n",
      rules.keep_best, rules.better == Better::highest ? "highest" : "lowest",
      escape_terminal(rules.metric), rules.older_than_days);
}

std::string describe_size(const Checkpoint& checkpoint) {
  std::string size = format_bytes(static_cast<double>(bytes_of(checkpoint)));
  const std::int64_t freed = freed_bytes_of(checkpoint);
  if (freed == bytes_of(checkpoint)) return size;
  return fmt::format("{}, {} of it freed because another hard link exists", size,
                     format_bytes(static_cast<double>(freed)));
}

std::string describe_removals(const std::vector<Removal>& removals, const char* done,
                              const PrunePlan& plan) {
  std::string text;
  for (const Removal& removal : removals)
    text += fmt::format(
        "{} {}: {} {}, {:.1f} days old, {}\n", done,
        shown(removal.below / removal.checkpoint.file.name), escape_terminal(plan.rules.metric),
        removal.checkpoint.metrics.at(plan.rules.metric),
        age_in_days(removal.checkpoint, plan.now_ns), describe_size(removal.checkpoint));
  return text;
}

/// What the rules do not look at, so that nobody waits for it to go.
std::string describe_left_alone(const CheckpointTree& tree) {
  std::string text;
  for (std::size_t i = 0; i < std::min(tree.left_alone.size(), kMostLeftAlone); ++i)
    text += fmt::format("ignored: {}: {}\n", shown(tree.left_alone[i].path),
                        escape_terminal(tree.left_alone[i].why));
  if (tree.left_alone.size() > kMostLeftAlone)
    text += fmt::format("ignored: {} more\n", tree.left_alone.size() - kMostLeftAlone);
  return text;
}

std::size_t without_metric(const PrunePlan& plan) {
  std::size_t count = 0;
  for (const CheckpointDirectory& directory : plan.tree.directories)
    for (const Checkpoint& checkpoint : directory.checkpoints)
      if (!checkpoint.metrics.contains(plan.rules.metric)) ++count;
  return count;
}

std::string describe_end(const PrunePlan& plan, const std::vector<Removal>& removals,
                         const char* freed) {
  const std::size_t count = checkpoint_count(plan.tree) - removals.size();
  const std::int64_t bytes = checkpoint_bytes(plan.tree) - removed_bytes(removals);
  std::string text =
      fmt::format("{}: {}\n", freed, count_and_bytes(removals.size(), freed_bytes(removals)));
  text += fmt::format("kept: {}", count_and_bytes(count, bytes));
  if (const std::size_t lacking = without_metric(plan); lacking > 0)
    text += fmt::format(", {} of them without {}", lacking, escape_terminal(plan.rules.metric));
  return text + "\n" + describe_left_alone(plan.tree);
}

struct Placed {
  const CheckpointDirectory* directory;
  const Checkpoint* checkpoint;

  [[nodiscard]] std::string path() const { return shown(directory->below / checkpoint->file.name); }
};

std::vector<Placed> all_of(const CheckpointTree& tree) {
  std::vector<Placed> all;
  for (const CheckpointDirectory& directory : tree.directories)
    for (const Checkpoint& checkpoint : directory.checkpoints)
      all.push_back({&directory, &checkpoint});
  return all;
}

struct MetricRange {
  std::size_t count = 0;
  const Placed* lowest = nullptr;  ///< absent where no value is finite
  const Placed* highest = nullptr;
};

std::map<std::string, MetricRange> ranges_of(const std::vector<Placed>& all) {
  std::map<std::string, MetricRange> ranges;
  for (const Placed& one : all) {
    for (const auto& [metric, value] : one.checkpoint->metrics) {
      MetricRange& range = ranges[metric];
      ++range.count;
      if (!std::isfinite(value)) continue;
      if (range.lowest == nullptr || value < range.lowest->checkpoint->metrics.at(metric))
        range.lowest = &one;
      if (range.highest == nullptr || value > range.highest->checkpoint->metrics.at(metric))
        range.highest = &one;
    }
  }
  return ranges;
}

std::string describe_range(const std::string& metric, const MetricRange& range) {
  const std::string head = fmt::format("{} ({}): ", escape_terminal(metric), range.count);
  if (range.lowest == nullptr) return head + "no finite value\n";
  return head + fmt::format("{} in {} to {} in {}\n", range.lowest->checkpoint->metrics.at(metric),
                            range.lowest->path(), range.highest->checkpoint->metrics.at(metric),
                            range.highest->path());
}

}  // namespace

std::string describe_plan(const PrunePlan& plan) {
  return describe_root(plan.tree) + describe_rules(plan.rules) +
         describe_removals(plan.removals, "would remove", plan) +
         describe_end(plan, plan.removals, "would be freed");
}

std::string describe_pruned(const PrunePlan& plan, const Pruned& pruned) {
  return describe_root(plan.tree) + describe_rules(plan.rules) +
         describe_removals(pruned.removed, "removed", plan) +
         describe_end(plan, pruned.removed, "freed");
}

std::string describe_tree(const CheckpointTree& tree, std::int64_t now_ns) {
  const std::vector<Placed> all = all_of(tree);
  std::string text = describe_root(tree);
  text += fmt::format("{} in {}\n", count_and_bytes(all.size(), checkpoint_bytes(tree)),
                      counted(tree.directories.size(), "directory", "directories"));
  if (!all.empty()) {
    const auto older = [](const Placed& a, const Placed& b) {
      return a.checkpoint->file.modified_ns < b.checkpoint->file.modified_ns;
    };
    const auto [oldest, newest] = std::ranges::minmax_element(all, older);
    for (const auto& [word, placed] : {std::pair("oldest", oldest), std::pair("newest", newest)})
      text += fmt::format("{}: {}, {:.1f} days old\n", word, placed->path(),
                          age_in_days(*placed->checkpoint, now_ns));
  }
  for (const auto& [metric, range] : ranges_of(all)) text += describe_range(metric, range);
  return text + describe_left_alone(tree);
}

}  // namespace memduel
