// memduel checkpoints prune|summary DIR: which checkpoints of a training stay, and what there is.
#include <fmt/format.h>

#include <memory>

#include "cbramod/prune.h"
#include "cli/option_checks.h"
#include "cli/print.h"
#include "cli/program.h"
#include "fl_commands.h"
#include "util/error.h"
#include "util/text.h"

namespace memduel::cli {
namespace {

constexpr const char* kExample =
    "Examples:\n"
    "  memduel checkpoints summary runs/finetuned\n"
    "  memduel checkpoints prune runs/finetuned --metric kappa --dry-run";

struct PruneArguments {
  std::string directory;
  RetentionRules rules;
  std::string best;
  bool dry_run = false;
};

/// What is taken for a score and is none would cost the best checkpoint.
void expect_known_best(const PruneArguments& arguments) {
  if (!arguments.best.empty() || is_known_score(arguments.rules.metric)) return;
  throw Error(ExitCode::usage,
              fmt::format("it is not known whether the best {} is the highest or the lowest",
                          arguments.rules.metric),
              "--metric", "add --best lowest or --best highest");
}

int prune(const PruneArguments& arguments) {
  RetentionRules rules = arguments.rules;
  rules.better = arguments.best == "lowest" ? Better::lowest : Better::highest;
  const PrunePlan plan = plan_prune(arguments.directory, rules, wall_clock_ns());
  expect_known_best(arguments);  // only now, so that a misspelled metric is called that
  if (arguments.dry_run) {
    print_fitted(describe_plan(plan));
    return 0;
  }
  const Pruned pruned = carry_out(plan);
  print_fitted(describe_pruned(plan, pruned));
  for (const std::string& failure : pruned.failures)
    say(fmt::format("memduel: {}\n", escape_terminal(failure)));
  return static_cast<int>(pruned.failures.empty() ? ExitCode::ok : ExitCode::io);
}

void add_directory(CLI::App& verb, std::string& directory) {
  const auto refuse_empty = [](const std::string& name) {
    return name.empty() ? "expected a directory, found an empty name" : "";
  };
  verb.add_option("DIR", directory, "directory with checkpoints")
      ->required()
      ->check(CLI::Validator(refuse_empty, ""));
}

void add_prune(CLI::App& checkpoints, Action& action) {
  const auto [verb, arguments] =
      add_verb(checkpoints, action, "prune",
               "delete old checkpoints, except the best and the newest", prune);
  verb->footer(
      "Examples:\n"
      "  memduel checkpoints prune runs/finetuned --metric kappa --dry-run\n"
      "  memduel checkpoints prune runs/finetuned --metric loss --best lowest\n"
      "\n"
      "Each directory below DIR is pruned separately. Links are not followed. Files that are not "
      "checkpoints, or have no metric, are kept.\n"
      "NAME is read from the file's name, or from FILE.json beside FILE. The default of --best is "
      "highest for known scores such as kappa and acc.");
  set_usage(*verb, {"--metric NAME [OPTIONS] DIR"});
  add_directory(*verb, arguments->directory);
  verb->add_option("--metric", arguments->rules.metric, "rank checkpoints by this metric")
      ->type_name("NAME")
      ->required();
  verb->add_option("--keep-best", arguments->rules.keep_best, "keep the N best checkpoints")
      ->type_name("N")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000000));
  verb->add_option("--older-than-days", arguments->rules.older_than_days,
                   "keep checkpoints that are not older")
      ->type_name("DAYS")
      ->capture_default_str()
      ->check(finite_range(0.0, 1e6));
  verb->add_option("--best", arguments->best, "rank highest or lowest first (default: by metric)")
      ->type_name("WHICH")
      ->check(CLI::IsMember({"highest", "lowest"}));
  verb->add_flag("--dry-run", arguments->dry_run, "print what would be deleted, delete nothing");
}

void add_tree_summary(CLI::App& checkpoints, Action& action) {
  auto directory = std::make_shared<std::string>();
  CLI::App* verb = checkpoints.add_subcommand("summary", "print count, sizes, ages and metrics");
  verb->footer(kExample);
  add_directory(*verb, *directory);
  verb->callback([directory, &action] {
    action = [directory] {
      const CheckpointTree tree = read_checkpoints(*directory, Subdirectories::enter);
      print_fitted(describe_tree(tree, wall_clock_ns()));
      return 0;
    };
  });
}

}  // namespace

void add_checkpoints(CLI::App& app, Action& action) {
  CLI::App* verb =
      app.add_subcommand("checkpoints", "prune or summarize the checkpoints of a training");
  verb->group(kFlGroup);
  verb->require_subcommand(1);
  verb->footer(kExample);
  add_prune(*verb, action);
  add_tree_summary(*verb, action);
}

}  // namespace memduel::cli
