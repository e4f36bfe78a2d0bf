#include "run_commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <sstream>

#include "cli/program.h"
#include "cli/verbs.h"
#include "duel.h"
#include "gate_options.h"
#include "overrides.h"
#include "run/builds.h"
#include "stats/sample_size.h"
#include "util/command_line.h"
#include "util/error.h"
#include "util/file.h"

namespace memduel::cli {
namespace {

namespace fs = std::filesystem;

/// Runs a command before the first trial, or after the last; one that is empty does nothing.
void run_beside(const NamedCommand& command, const std::string& text, const char* what,
                const std::vector<std::string>& shell) {
  if (text.empty()) return;
  const ScratchDirectory place(fs::temp_directory_path(), "memduel-" + std::string(what));
  MakeOptions make;
  make.command = {{}, in_shell(shell, text)};
  make.directory = current_directory();
  make.log = place.path() / "log";
  const int status = run_make(make);
  if (status != 0)
    throw Error(ExitCode::cannot_measure,
                fmt::format("'{}' of {} ended with status {}{}", text, command.name, status,
                            last_lines(make.log)),
                fmt::format("--{}", what));
}

/// Trials of all commands are interleaved, so that a step which is the same for several is run once
/// for them.
void run_each_once(const std::vector<NamedCommand>& commands, std::string NamedCommand::* step,
                   const char* what, const std::vector<std::string>& shell) {
  std::set<std::string> done;
  for (const NamedCommand& one : commands)
    if (done.insert(one.*step).second) run_beside(one, one.*step, what, shell);
}

/// "bash", "/bin/sh -e" or "none": a value of --shell, and no command that is worth a measurement.
bool is_shell_alone(const std::string& word) {
  constexpr std::array<std::string_view, 8> kShells = {"none", "default", "sh",  "bash",
                                                       "dash", "zsh",     "ksh", "fish"};
  std::istringstream parts(word);
  std::string first;
  parts >> first;
  if (std::ranges::find(kShells, fs::path(first).filename().string()) == kShells.end())
    return false;
  for (std::string part; parts >> part;) {
    const bool runs_command = !part.starts_with("--") && part.find('c') != std::string::npos;
    if (!part.starts_with('-') || runs_command) return false;
  }
  return true;
}

/// -S of hyperfine 1 had a value.
void refuse_shell_behind_flag(const std::vector<std::string>& words) {
  for (std::size_t i = 0; i + 1 < words.size() && words[i] != "--"; ++i)
    if ((words[i] == "-S" || words[i] == "--default-shell") && is_shell_alone(words[i + 1]))
      throw Error(ExitCode::usage,
                  fmt::format("expected a command, found the shell \"{}\": -S has no value and "
                              "stands for sh",
                              words[i + 1]),
                  words[i], fmt::format("use --shell {}", quoted_command_line({words[i + 1]})));
}

/// A config of one variant does not run by itself, so the command line is what repeats the run.
RunFacts facts_of(const Document& document) {
  RunFacts facts;
  if (document.variants.size() > 1) return facts;
  std::vector<std::string> words = without_option(given_words(), "--out", 1);
  words = without_option(std::move(words), "--resume", 0);
  words.front() = "memduel";
  facts.environment["reproduce"] = quoted_command_line(words);
  return facts;
}

/// The number of trials when memduel chooses it.
struct ChosenTrials {
  int least;
  int most;
};

ChosenTrials chosen_trials(std::size_t variants) {
  if (variants == 1) return {kTrialsOfOne, kTrialsOfOne};
  const LookPlan looks = adaptive_looks(variants - 1);
  return {looks.front().blocks, looks.back().blocks};
}

}  // namespace

std::optional<int> repeats_within_bounds(const RunOptions& options, std::size_t variants) {
  if (!options.min_repeats && !options.max_repeats) return options.repeats;
  if (options.repeats)
    throw Error(ExitCode::usage, "expected --runs, or --min-runs and --max-runs, found both",
                "--runs");
  if (options.min_repeats && options.max_repeats && *options.min_repeats > *options.max_repeats)
    throw Error(ExitCode::usage,
                fmt::format("expected --min-runs of at most --max-runs, found {} and {}",
                            *options.min_repeats, *options.max_repeats),
                "--min-runs");
  const ChosenTrials chosen = chosen_trials(variants);
  if (options.max_repeats && *options.max_repeats < chosen.most) return options.max_repeats;
  if (options.min_repeats && *options.min_repeats > chosen.least) return options.min_repeats;
  return std::nullopt;
}

void add_command_options(CLI::App& verb, CommandOptions& options) {
  ComparedCommands& commands = options.run;
  const auto add = [&](const char* name, auto& value, const char* type, const char* help) {
    return verb.add_option(name, value, help)->type_name(type)->group(kCommandOptions);
  };
  add("--name,--command-name,-n", commands.names, "NAME", "name a command, in their order")
      ->allow_extra_args(false);
  add("--env", commands.env, "ASSIGNMENTS", "set variables: 'A=1 B=2'")->allow_extra_args(false);
  add("--setup,-s", commands.setup, "CMD", "run CMD before the first trial");
  add("--prepare,-p", commands.prepare, "CMD", "run CMD before each trial")
      ->allow_extra_args(false);
  add("--conclude,-C", commands.conclude, "CMD", "run CMD after each trial")
      ->allow_extra_args(false);
  add("--cleanup,-c", commands.cleanup, "CMD", "run CMD after the last trial");
  add("--round-pattern", commands.round_pattern, "REGEX",
      "begin a round at each line that matches");
  add("--log", commands.logs, "FILE", "match lines of FILE, not of the output (repeatable)")
      ->allow_extra_args(false);
  verb.add_flag("--ignore-failure,-i", commands.ignored_statuses,
                "accept these exit statuses, or all without N")
      ->multi_option_policy(CLI::MultiOptionPolicy::Throw)
      ->option_text("[=N]")
      ->group(kCommandOptions);
  verb.add_option("--shell", options.shell, "run commands by SHELL -c")
      ->type_name("SHELL")
      ->group(kCommandOptions);
  verb.add_flag("--default-shell,-S", options.default_shell, "run commands by sh -c")
      ->group(kCommandOptions);
  verb.add_flag("--no-shell,-N", options.no_shell, "run commands without a shell (default)")
      ->group(kCommandOptions);
}

void add_hyperfine_exports(CLI::App& verb, RunOptions& options) {
  for (const char* format : {"json", "csv", "markdown"})
    verb.add_option_function<std::string>(
            fmt::format("--export-{}", format),
            [&options, format](const std::string& file) {
              options.exports.emplace_back(fmt::format("hyperfine-{}", format),
                                           file == "-" ? "/dev/stdout" : file);
            },
            fmt::format("also write the trials as hyperfine does ({})", format))
        ->type_name("FILE")
        ->group(kOutputOptions);
}

std::vector<std::string> shell_of(const CommandOptions& options) {
  const bool is_named = !options.shell.empty();
  if (options.no_shell && (options.default_shell || is_named))
    throw Error(ExitCode::usage, "expected -N or a shell, found both", "--shell");
  if (options.default_shell && is_named)
    throw Error(ExitCode::usage, "expected -S or --shell, found both", "--shell", "omit -S");
  if (options.default_shell) refuse_shell_behind_flag(given_words());
  if (options.default_shell) return shell_named("default");
  return is_named ? shell_named(options.shell) : std::vector<std::string>();
}

int run_commands(const ComparedCommands& compared, RunOptions options) {
  name_implied_gates(options.gate, false);
  const Document document = document_of(compared);
  options.repeats = repeats_within_bounds(options, document.variants.size());
  Overrides overrides = overrides_from(options);
  overrides.default_gates_if_named_only = true;
  overrides.one_variant = document.variants.size() == 1;
  refuse_change_of_commands(document, options);
  const Experiment experiment =
      make_experiment(document, document.name, current_directory(), overrides);
  const std::vector<NamedCommand> commands = named_commands(compared);
  run_each_once(commands, &NamedCommand::setup, "setup", compared.shell);
  const int code = duel_and_conclude(experiment, options, facts_of(document));
  run_each_once(commands, &NamedCommand::cleanup, "cleanup", compared.shell);
  return code;
}

}  // namespace memduel::cli
