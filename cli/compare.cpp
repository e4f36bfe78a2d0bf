// memduel compare: two commands, interleaved; or two things measured earlier.
#include <fmt/format.h>

#include <memory>

#include "analysis/google_benchmark.h"
#include "analysis/merge_runs.h"
#include "analysis/results_json.h"
#include "base/error.h"
#include "base/file.h"
#include "cli/duel.h"
#include "cli/verbs.h"
#include "experiment/command_line.h"

namespace memduel::cli {
namespace {

namespace fs = std::filesystem;

struct CompareArguments {
  std::string a;
  std::string b;
  bool shell = false;
  bool calibrate = false;
  std::vector<std::string> measured;
  std::string arm;
  RunOptions options;
};

constexpr const char* kRole = "command";

CommandLine command_of(const std::string& text, bool shell) {
  if (shell) return {{}, {"/bin/sh", "-c", text}};
  return split_command_line(text);
}

/// An experiment of one process with two arms, as somebody would write it in a file.
nlohmann::json two_commands(const CompareArguments& arguments) {
  const CommandLine a = command_of(arguments.a, arguments.shell);
  const CommandLine b = command_of(arguments.b, arguments.shell);
  nlohmann::json candidate = {{"name", "b"}, {"env", b.env}, {"argv", {{kRole, b.argv}}}};
  if (arguments.calibrate) candidate["twin_of"] = "a";
  return {
      {"name", "compare"},
      {"workload",
       {{"kind", "command"},
        {"processes", {{{"role", kRole}, {"argv", a.argv}, {"cwd", fs::current_path()}}}}}},
      {"arms", {{{"name", "a"}, {"env", a.env}}, candidate}},
      {"baseline", "a"},
  };
}

int compare_commands(const CompareArguments& arguments) {
  Overrides overrides = overrides_from(arguments.options);
  const Experiment experiment =
      parse_experiment(two_commands(arguments).dump(), "compare", fs::current_path(), overrides);
  return duel_and_conclude(experiment, arguments.options);
}

/// What was measured earlier: a run directory, its results.json, or Google Benchmark's output.
struct Measured {
  RunData run;
  bool is_benchmark = false;
};

Measured read_measured(const std::string& path) {
  if (fs::is_directory(path)) return {read_run(path, WithSeries::yes)};
  const nlohmann::json json = nlohmann::json::parse(read_file(path), nullptr, false);
  if (json.is_discarded())
    throw Error(ExitCode::io, "is not JSON", path,
                "give a run directory, results.json, or Google Benchmark JSON");
  if (is_google_benchmark(json)) return {run_from_google_benchmark(json, path), true};
  return {run_from_results(results_from_json(json, path))};
}

int compare_measured(const CompareArguments& arguments) {
  const std::string& a = arguments.measured[0];
  const std::string& b = arguments.measured[1];
  const Measured measured_a = read_measured(a);
  const Measured measured_b = read_measured(b);
  if (measured_a.is_benchmark != measured_b.is_benchmark)
    throw Error(ExitCode::usage, "only one of the two is a Google Benchmark file", a + ", " + b);
  FinishedRun finished;
  finished.run = merge_runs(measured_a.run, measured_b.run, arguments.arm);
  AnalysisSettings settings = settings_for(finished.run, arguments.options.gates, std::nullopt);
  settings.design = Design::unpaired;
  // What is there is there: one look with the whole level.
  settings.looks = fixed_looks(static_cast<int>(finished.run.trials.size()));
  finished.results = analyse(finished.run, settings);
  if (arguments.options.out) {
    fs::create_directories(*arguments.options.out);
    write_outputs(*arguments.options.out, finished);
  }
  if (!arguments.options.quiet) print_terminal_report(finished);
  return static_cast<int>(gates_exit_code(finished.results, arguments.options.fail_on_undecided));
}

int compare(const CompareArguments& arguments) {
  const bool commands = !arguments.a.empty() || !arguments.b.empty();
  if (commands && (arguments.a.empty() || arguments.b.empty()))
    throw Error(ExitCode::usage, "needs both --a and --b", "compare");
  if (commands == !arguments.measured.empty() || (!commands && arguments.measured.size() != 2))
    throw Error(ExitCode::usage, "needs either --a CMD --b CMD, or two things measured earlier",
                "compare",
                "memduel compare --a './old' --b './new', or memduel compare runs/old runs/new");
  return commands ? compare_commands(arguments) : compare_measured(arguments);
}

}  // namespace

void add_compare(CLI::App& app, Action& action) {
  auto arguments = std::make_shared<CompareArguments>();
  CLI::App* verb = app.add_subcommand("compare", "duel two commands, or compare two measured runs");
  verb->group("Compare");
  verb->footer(
      "Examples:\n"
      "  memduel compare --a './old --load big.bin' --b './new --load big.bin'\n"
      "  memduel compare runs/monday runs/tuesday\n"
      "  memduel compare before.json after.json        (Google Benchmark, "
      "--benchmark_repetitions=10)");
  verb->add_option("--a", arguments->a, "the baseline's command, split by POSIX quoting rules")
      ->type_name("CMD");
  verb->add_option("--b", arguments->b, "the candidate's command")->type_name("CMD");
  verb->add_flag("--shell", arguments->shell, "hand both commands to /bin/sh -c");
  verb->add_flag("--calibrate", arguments->calibrate,
                 "allow two equal commands: a duel of a program with itself");
  verb->add_option("MEASURED", arguments->measured,
                   "two run directories, results.json or Google Benchmark JSON files")
      ->expected(0, 2);
  verb->add_option("--arm", arguments->arm,
                   "the arm to compare between two runs (default: each run's baseline)");
  add_run_options(*verb, arguments->options);
  verb->callback([arguments, &action] { action = [arguments] { return compare(*arguments); }; });
}

}  // namespace memduel::cli
