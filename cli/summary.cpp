// memduel summary PROFILE: totals, top stacks, sizes, temporary share, rounds and retention.
#include <memory>

#include "base/characters.h"
#include "cli/finite_range.h"
#include "cli/print.h"
#include "cli/profile_file.h"
#include "cli/verbs.h"
#include "profilers/profile/questions/summarize.h"

namespace memduel::cli {
namespace {

struct SummaryArguments {
  std::string profile;
  SummaryOptions options;
};

int summary(const SummaryArguments& arguments) {
  print_fitted(
      escape_terminal_lines(summarize(open_profile(arguments.profile), arguments.options)));
  return 0;
}

}  // namespace

void add_summary(CLI::App& app, Action& action) {
  auto arguments = std::make_shared<SummaryArguments>();
  CLI::App* verb =
      app.add_subcommand("summary", "what a profile says: totals, top stacks, sizes, retention");
  verb->group("Look");
  verb->footer("Example: memduel summary train.mdp");
  verb->add_option("PROFILE", arguments->profile, kProfileHelp)->required();
  verb->add_option("--stacks", arguments->options.stacks, "how many stacks to show of each kind")
      ->transform(no_sign())
      ->capture_default_str();
  verb->add_option("--frames", arguments->options.frames,
                   "how many frames of each, from the function that tells most outwards")
      ->transform(no_sign())
      ->capture_default_str();
  verb->add_flag(
      "--all-frames", arguments->options.all_frames,
      "whole names, and all frames from the innermost: allocators, libraries, interpreters");
  verb->callback([arguments, &action] { action = [arguments] { return summary(*arguments); }; });
}

}  // namespace memduel::cli
