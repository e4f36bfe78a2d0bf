// memduel measure: one command, compared with nothing.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "cli/program.h"
#include "cli/verbs.h"
#include "limit_option.h"
#include "run_commands.h"
#include "util/command_line.h"
#include "util/error.h"

namespace memduel::cli {
namespace {

struct MeasureArguments {
  CommandOptions commands;
  std::vector<std::string> words;
  std::vector<std::string> limits;
  RunOptions options;
};

[[noreturn]] void refuse_number_of_commands(const std::vector<std::string>& words) {
  const bool is_split = std::ranges::none_of(
      words, [](const auto& word) { return word.find(' ') != std::string::npos; });
  const std::string advice =
      words.empty() ? "give it as one word in quotes: memduel measure './sort big.txt'"
      : is_split    ? fmt::format("give it as one word in quotes: memduel measure {}",
                                  quoted_command_line({fmt::format("{}", fmt::join(words, " "))}))
                    : fmt::format("did you mean memduel compare {}?", quoted_command_line(words));
  throw Error(ExitCode::usage, fmt::format("expected one command, found {}", words.size()),
              "measure", advice);
}

int measure_command(const MeasureArguments& arguments) {
  ComparedCommands commands = arguments.commands.run;
  commands.commands = arguments.words;
  commands.shell = shell_of(arguments.commands);
  if (commands.commands.size() != 1) refuse_number_of_commands(commands.commands);
  RunOptions options = arguments.options;
  for (const std::string& limit : arguments.limits)
    options.gate.named.push_back(gate_of_limit(limit));
  if (!options.gate.named.empty() && !options.gate.on_inconclusive)
    options.gate.on_inconclusive = OnInconclusive::fail;
  return run_commands(commands, options);
}

}  // namespace

void add_measure(CLI::App& app, Action& action) {
  const auto [verb, arguments] = add_verb(
      app, action, "measure", "measure the memory and time of one command", measure_command);
  verb->group(kCompareGroup);
  set_usage(*verb, {"CMD [OPTIONS]"});
  verb->footer(fmt::format(
      "Examples:\n"
      "  memduel measure './sort big.txt'\n"
      "  memduel measure -S 'sort big.txt | uniq > /dev/null'\n"
      "  memduel measure --limit 'peak_rss<=200MiB' --limit 'wall_time<=2s' ./test\n"
      "  memduel measure --quiet --export json /dev/stdout './sort big.txt'\n"
      "\n"
      "CMD is split by POSIX quoting rules. {{seed}}, {{trial_dir}} and {{port:NAME}} are "
      "replaced; "
      "write {{{{x}}}} for {{x}}. Commands of --setup, --prepare, --conclude and --cleanup are run "
      "by a shell.\n"
      "REGEX: its first group, or (?<round>...), is the number of the round.\n"
      "LIMIT: METRIC<=VALUE, which no trial may exceed. METRIC: {}, or one of memduel list "
      "metrics. VALUE has a unit: KiB, MiB, GiB, MB, GB, ms, s.\n"
      "WHEN: a limit that holds is inconclusive after fewer than 5 trials, of heap fewer than 3. "
      "It then exits with 5 (fail), or with 0 (pass, beyond).",
      names_of_limits()));
  verb->add_option("CMD", arguments->words, "the command, as one word in quotes")->group("");
  add_command_options(*verb, arguments->commands);
  RunOptions& options = arguments->options;
  add_set(*verb, options);
  add_trial_options(*verb, options, fmt::format("run CMD N times (default: {})", kTrialsOfOne));
  add_trial_bounds(*verb, options);
  add_no_why(*verb, options);
  verb->add_option("--limit", arguments->limits, "exit with 1 beyond LIMIT, see below (repeatable)")
      ->type_name("LIMIT")
      ->allow_extra_args(false)
      ->group(kVerdictOptions);
  add_on_inconclusive(*verb, options.gate, "fail");
  add_out(*verb, options);
  add_resume(*verb, options);
  add_report_options(*verb, options);
  add_hyperfine_exports(*verb, options);
  verb->footer(verb->get_footer() + "\n\n" + exit_code_table());
}

}  // namespace memduel::cli
