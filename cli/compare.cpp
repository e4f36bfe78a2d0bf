// memduel compare: two commands, interleaved; or two things measured earlier.
#include <fmt/format.h>

#include <array>

#include "analysis/json/results_json.h"
#include "analysis/questions/google_benchmark.h"
#include "analysis/verdicts/merge_runs.h"
#include "base/error.h"
#include "base/file.h"
#include "base/foreign_json.h"
#include "base/run_directory.h"
#include "base/text_file.h"
#include "cli/compare_builds.h"
#include "cli/compared_commands.h"
#include "cli/duel.h"
#include "cli/report_formats.h"
#include "cli/verbs.h"
#include "experiment/run/kept_run.h"
#include "experiment/store/store.h"

namespace memduel::cli {
namespace {

namespace fs = std::filesystem;

struct CompareArguments {
  ComparedCommands commands;
  std::string build_a;
  std::string build_b;
  RevisionsArguments revisions;
  std::vector<std::string> words;  ///< two things measured earlier, a config, or PROGRAM ARGS…
  std::string arm;
  RunOptions options;
};

/// What is compared.
enum class Form { commands, directories, revisions, measured };

int compare_commands(const CompareArguments& arguments) {
  Overrides overrides = overrides_from(arguments.options);
  const Experiment experiment = parse_experiment(experiment_of(arguments.commands).dump(),
                                                 "compare", current_directory(), overrides);
  return duel_and_conclude(experiment, arguments.options);
}

/// What was measured earlier: a run directory, its results.json, or Google Benchmark's output.
struct Measured {
  RunData run;
  bool is_benchmark = false;
};

Measured read_measured(const std::string& path) {
  if (fs::is_directory(path)) return {read_kept_run(path, WithSeries::yes)};
  if (!fs::exists(path))
    throw Error(ExitCode::io, "no such file or directory, expected something measured earlier",
                path, "two commands are compared with memduel compare --a CMD --b CMD");
  const nlohmann::json json = parse_foreign_json(read_text_file(path));
  if (json.is_discarded())
    throw Error(ExitCode::io, "is not JSON", path,
                "give a run directory, results.json, or Google Benchmark JSON");
  if (is_google_benchmark(json)) return {run_from_google_benchmark(json, path), true};
  return {run_from_results(results_from_json(json, path))};
}

/// Two files and no run, which a later comparison may replace; a folder with anything else stays as
/// it is.
void make_output_directory(const fs::path& directory) {
  make_directory(directory, "give another --out");
  const bool ours = fs::exists(directory / kResultsFile) && !has_run(directory);
  for (const fs::directory_entry& entry : fs::directory_iterator(directory)) {
    const std::string name = entry.path().filename().string();
    if (ours && (name == kResultsFile || name == kReportFile)) continue;
    throw Error(
        ExitCode::usage,
        fmt::format("the output directory holds files that are no comparison's, such as {}", name),
        directory.string(), "give another --out");
  }
}

int compare_measured(const CompareArguments& arguments) {
  const std::string& a = arguments.words[0];
  const std::string& b = arguments.words[1];
  check_exports(arguments.options.exports);
  if (arguments.options.out) make_output_directory(*arguments.options.out);
  const Measured measured_a = read_measured(a);
  const Measured measured_b = read_measured(b);
  if (measured_a.is_benchmark != measured_b.is_benchmark)
    throw Error(ExitCode::usage, "only one of the two is a Google Benchmark file", a + ", " + b);
  FinishedRun finished;
  finished.run = merge_runs(measured_a.run, measured_b.run, arguments.arm);
  AnalysisSettings settings = settings_for(finished.run, {arguments.options.gates, {}});
  settings.design = Design::unpaired;
  settings.strict_gates = arguments.options.strict_gates;
  settings.default_gates = !arguments.options.no_default_gates;
  // What is there is there: one look with the whole level.
  settings.looks = fixed_looks(static_cast<int>(finished.run.trials.size()));
  finished.results = analyse(finished.run, settings);
  const Ending ending{arguments.options.verbose, arguments.options.gates.empty(),
                      arguments.options.exports};
  deliver(arguments.options.out ? write_outputs(*arguments.options.out, finished, ending)
                                : told_of(finished, ending),
          arguments.options.quiet);
  return static_cast<int>(gates_exit_code(finished.results, arguments.options.fail_on_undecided));
}

/// The form whose two options are there. Throws Error(usage) when one is missing or several are
/// mixed.
Form form_of(const CompareArguments& arguments) {
  struct Pair {
    Form form;
    const char* names;
    bool has_a;
    bool has_b;
  };
  const ComparedCommands& commands = arguments.commands;
  const RevisionsArguments& revisions = arguments.revisions;
  const std::array<Pair, 3> pairs = {{{Form::commands, "--a and --b", !commands.baseline.empty(),
                                       !commands.candidates.empty() || !commands.scans.empty()},
                                      {Form::directories, "--build-a and --build-b",
                                       !arguments.build_a.empty(), !arguments.build_b.empty()},
                                      {Form::revisions, "--ref-a and --ref-b",
                                       !revisions.ref_a.empty(), !revisions.ref_b.empty()}}};
  std::optional<Form> form;
  for (const Pair& pair : pairs) {
    if (!pair.has_a && !pair.has_b) continue;
    if (!pair.has_a || !pair.has_b)
      throw Error(ExitCode::usage, std::string("needs both ") + pair.names, "compare");
    if (form)
      throw Error(ExitCode::usage, "found two of --a, --build-a and --ref-a, expected one",
                  "compare");
    form = pair.form;
  }
  return form.value_or(Form::measured);
}

void check_options_of_commands(const ComparedCommands& commands, Form form) {
  if (!commands.scans.empty() && !commands.candidates.empty())
    throw Error(ExitCode::usage, "found --b beside --parameter-scan, expected one of them",
                "compare");
  const bool used = !commands.names.empty() || !commands.prepare.empty() || commands.ignore_failure;
  if (form != Form::commands && used)
    throw Error(ExitCode::usage, "--name, --prepare and --ignore-failure belong to --a", "compare",
                "a config says the same for builds, see docs/jobs.md");
}

void check_words(const CompareArguments& arguments, Form form) {
  const std::size_t words = arguments.words.size();
  if (form == Form::commands && words > 0)
    throw Error(ExitCode::usage, fmt::format("found \"{}\" beside --a and --b", arguments.words[0]),
                "compare", "quote each command: --a './old --load big.bin'");
  if (form == Form::measured && words != 2)
    throw Error(ExitCode::usage, "needs either --a CMD --b CMD, or two things measured earlier",
                "compare",
                "memduel compare --a './old' --b './new', or memduel compare runs/old runs/new");
  if ((form == Form::directories || form == Form::revisions) && words == 0)
    throw Error(ExitCode::usage, "found no program", "compare",
                "end the command with -- PROGRAM ARGS…, or with a config");
  if (form != Form::revisions &&
      !(arguments.revisions.build.empty() && arguments.revisions.keep.empty()))
    throw Error(ExitCode::usage, "--build and --keep belong to --ref-a and --ref-b", "compare");
}

BuildsArguments builds_arguments(const CompareArguments& arguments) {
  BuildsArguments builds;
  builds.words = arguments.words;
  if (!arguments.arm.empty()) builds.arm = arguments.arm;
  builds.calibrate = arguments.commands.calibrate;
  builds.options = arguments.options;
  return builds;
}

int compare(const CompareArguments& arguments) {
  const Form form = form_of(arguments);
  check_options_of_commands(arguments.commands, form);
  check_words(arguments, form);
  switch (form) {
    case Form::commands:
      return compare_commands(arguments);
    case Form::directories:
      return compare_directories(arguments.build_a, arguments.build_b, builds_arguments(arguments));
    case Form::revisions: {
      RevisionsArguments revisions = arguments.revisions;
      revisions.shell = arguments.commands.shell;
      return compare_revisions(revisions, builds_arguments(arguments));
    }
    case Form::measured:
      break;
  }
  return compare_measured(arguments);
}

void add_command_options(CLI::App& verb, ComparedCommands& commands) {
  verb.add_option("--a", commands.baseline,
                  "the baseline's command, split by POSIX quoting rules; {seed}, {trial_dir} "
                  "and {port:NAME} are replaced, {{x}} is {x}")
      ->type_name("CMD");
  verb.add_option("--b", commands.candidates, "a candidate's command (repeatable)")
      ->type_name("CMD")
      ->allow_extra_args(false);
  verb.add_option("--parameter-scan", commands.scans,
                  "in place of --b: {NAME} in --a is each value in turn, the first one is the "
                  "baseline; several make every combination")
      ->type_name("NAME=V,V")
      ->allow_extra_args(false);
  verb.add_option("--name", commands.names,
                  "what a command is called (default: a, b, c), the baseline's first (repeatable)")
      ->type_name("NAME")
      ->allow_extra_args(false);
  verb.add_option("--prepare", commands.prepare, "runs before each trial, unmeasured (repeatable)")
      ->type_name("CMD")
      ->allow_extra_args(false);
  verb.add_flag("--ignore-failure", commands.ignore_failure,
                "any exit status of a command counts as success; signals do not");
  verb.add_flag("--shell", commands.shell, "hand commands to /bin/sh -c, also those of --build");
  verb.add_flag("--calibrate", commands.calibrate,
                "allow two equal commands or builds: a duel of a program with itself");
}

void add_build_options(CLI::App& verb, CompareArguments& arguments) {
  verb.add_option("--build-a", arguments.build_a,
                  "the directory of the baseline's build; PROGRAM and its own shared libraries are "
                  "taken from there")
      ->type_name("DIR");
  verb.add_option("--build-b", arguments.build_b, "the candidate's build")->type_name("DIR");
  RevisionsArguments& revisions = arguments.revisions;
  verb.add_option("--ref-a", revisions.ref_a,
                  "the baseline's revision of the git repository around the current directory; it "
                  "is built in a worktree that is removed afterwards")
      ->type_name("REV");
  verb.add_option("--ref-b", revisions.ref_b, "the candidate's revision")->type_name("REV");
  verb.add_option("--build", revisions.build,
                  "builds a revision, in its root; several run one after the other")
      ->type_name("CMD")
      ->allow_extra_args(false);
  verb.add_option("--keep", revisions.keep,
                  "a path that both revisions take from the candidate, such as a benchmark")
      ->type_name("PATH")
      ->allow_extra_args(false);
}

}  // namespace

void add_compare(CLI::App& app, Action& action) {
  const auto [verb, arguments] =
      add_verb(app, action, "compare",
               "duel two commands, builds or revisions, or two measured runs", compare);
  verb->group("Compare");
  verb->footer(
      "Examples:\n"
      "  memduel compare --a './old --load big.bin' --b './new --load big.bin'\n"
      "  memduel compare --a './sort --threads {n}' --parameter-scan n=1,2,4\n"
      "  memduel compare --build-a out/main --build-b out/fix -- bin/server --once\n"
      "  memduel compare --ref-a main --ref-b HEAD --build 'make -j8' -- ./server\n"
      "  memduel compare --a ./old-benchmarks --b ./new-benchmarks    (Google Benchmark: each "
      "benchmark, too)\n"
      "  memduel compare runs/monday runs/tuesday\n"
      "  memduel compare before.json after.json        (Google Benchmark, "
      "--benchmark_repetitions=10)");
  add_command_options(*verb, arguments->commands);
  add_build_options(*verb, *arguments);
  verb->add_option("WHAT", arguments->words,
                   "two run directories, results.json or Google Benchmark JSON files; for builds a "
                   "config, or after -- a program and its arguments");
  verb->add_option("--arm", arguments->arm,
                   "the arm of two runs, or of a config (default: the baseline)");
  add_run_options(*verb, arguments->options);
}

}  // namespace memduel::cli
