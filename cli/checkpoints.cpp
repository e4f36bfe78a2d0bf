// memduel checkpoints prune|summary DIR: which checkpoints of a training stay, and what there is.
#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "base/error.h"
#include "cli/finished_run.h"
#include "cli/verbs.h"
#include "training/checkpoint_text.h"

namespace memduel::cli {
namespace {

struct PruneArguments {
  std::string directory;
  RetentionRules rules;
  std::string best;
  bool dry_run = false;
};

/// A loss that is taken for a score would cost the best checkpoint.
Better better_of(const PruneArguments& arguments) {
  if (!arguments.best.empty()) return arguments.best == "lowest" ? Better::lowest : Better::highest;
  for (const char* word : {"loss", "err", "perplexity"})
    if (arguments.rules.metric.find(word) != std::string::npos)
      throw Error(
          ExitCode::usage,
          fmt::format("the best {} may be the highest or the lowest", arguments.rules.metric),
          "--metric", "add --best lowest or --best highest");
  return Better::highest;
}

int prune(const PruneArguments& arguments) {
  RetentionRules rules = arguments.rules;
  rules.better = better_of(arguments);
  const PrunePlan plan = plan_prune(arguments.directory, rules, wall_clock_ns());
  if (arguments.dry_run) {
    print(describe_plan(plan));
    return 0;
  }
  const Pruned pruned = carry_out(plan);
  print(describe_pruned(plan, pruned));
  for (const std::string& failure : pruned.failures) fmt::print(stderr, "memduel: {}\n", failure);
  return static_cast<int>(pruned.failures.empty() ? ExitCode::ok : ExitCode::io);
}

void add_prune(CLI::App& checkpoints, Action& action) {
  auto arguments = std::make_shared<PruneArguments>();
  CLI::App* verb = checkpoints.add_subcommand(
      "prune", "remove old checkpoints that are neither among the best nor the newest");
  verb->footer(
      "Example: memduel checkpoints prune runs/finetuned --metric kappa --dry-run\n"
      "Each directory below DIR is pruned for itself. Links are not followed; what is no "
      "checkpoint, or lacks the metric, stays.");
  verb->add_option("DIR", arguments->directory, "a directory with checkpoints")->required();
  verb->add_option("--metric", arguments->rules.metric,
                   "what the best are best in: in the file's name, or in NAME.json beside NAME")
      ->required();
  verb->add_option("--keep-best", arguments->rules.keep_best, "how many of the best stay")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000000));
  verb->add_option("--older-than-days", arguments->rules.older_than_days,
                   "what is not older than this stays")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 1e6));
  verb->add_option("--best", arguments->best, "which values are the best (default: highest)")
      ->check(CLI::IsMember({"highest", "lowest"}));
  verb->add_flag("--dry-run", arguments->dry_run, "say what would be removed, remove nothing");
  verb->callback([arguments, &action] { action = [arguments] { return prune(*arguments); }; });
}

void add_tree_summary(CLI::App& checkpoints, Action& action) {
  auto directory = std::make_shared<std::string>();
  CLI::App* verb = checkpoints.add_subcommand("summary", "count, sizes, ages and metrics");
  verb->footer("Example: memduel checkpoints summary runs/finetuned");
  verb->add_option("DIR", *directory, "a directory with checkpoints")->required();
  verb->callback([directory, &action] {
    action = [directory] {
      const CheckpointTree tree = read_checkpoints(*directory, Subdirectories::enter);
      print(describe_tree(tree, wall_clock_ns()));
      return 0;
    };
  });
}

}  // namespace

void add_checkpoints(CLI::App& app, Action& action) {
  CLI::App* verb =
      app.add_subcommand("checkpoints", "prune a training's checkpoints, or sum them up");
  verb->group("Replay");
  verb->require_subcommand(1);
  verb->footer("Example: memduel checkpoints summary runs/finetuned");
  add_prune(*verb, action);
  add_tree_summary(*verb, action);
}

}  // namespace memduel::cli
