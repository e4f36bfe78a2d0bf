// memduel compare: two commands, interleaved; or two runs or profiles that were recorded earlier.
#include "compare.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "cli/option_checks.h"
#include "cli/program.h"
#include "cli/verbs.h"
#include "compare_profiles.h"
#include "duel.h"
#include "finished_run.h"
#include "gate_options.h"
#include "model/run_directory.h"
#include "profile_file.h"
#include "readers/foreign_files.h"
#include "readers/read_profile.h"
#include "run/store.h"
#include "run_commands.h"
#include "state_runs.h"
#include "util/command_line.h"
#include "util/error.h"
#include "util/file.h"
#include "util/json.h"
#include "verdict/hyperfine_json.h"
#include "verdict/result_files.h"

namespace memduel::cli {
namespace {

namespace fs = std::filesystem;

struct CompareArguments {
  std::string a;
  std::vector<std::string> b;
  CommandOptions commands;
  std::string build_a;
  std::string build_b;
  RevisionsArguments revisions;
  std::vector<std::string> words;  ///< commands, runs, a config, or PROGRAM ARGS…
  std::string arm;
  RunOptions options;
  ProfilesArguments profiles;
  const CLI::App* verb = nullptr;
};

/// What is compared.
constexpr CommandForm kCommands{1, "compare of commands"};
constexpr CommandForm kDirectories{2, "compare of a program in two builds"};
constexpr CommandForm kDirectoriesOfConfig{4, "compare of a config in two builds"};
constexpr CommandForm kRevisions{8, "compare of a program at two revisions"};
constexpr CommandForm kRevisionsOfConfig{16, "compare of a config at two revisions"};
constexpr CommandForm kMeasured{32, "compare of two measured runs"};
constexpr CommandForm kOneCommand{64, "compare of one command"};
constexpr CommandForm kProfiles{128, "compare of two profiles"};

constexpr unsigned kOfConfig = kDirectoriesOfConfig.bit | kRevisionsOfConfig.bit;
constexpr unsigned kOfRevisions = kRevisions.bit | kRevisionsOfConfig.bit;
constexpr unsigned kOfDirectories = kDirectories.bit | kDirectoriesOfConfig.bit;
constexpr unsigned kOfCommandLines = kCommands.bit | kOneCommand.bit;
constexpr unsigned kWithTrials = kOfCommandLines | kOfDirectories | kOfRevisions;
constexpr unsigned kWithVerdict = kWithTrials | kMeasured.bit;
constexpr unsigned kEveryForm = kWithVerdict | kProfiles.bit;

constexpr const char* kTakesNoTrials = "takes no trials";
constexpr const char* kHasNoBounds = "has no bounds of the number of trials";
constexpr const char* kSetRepeats =
    "they belong to commands; -r sets the number of trials of builds";
constexpr const char* kHasNoCommands = "has no command lines";
constexpr const char* kOfCommands =
    "it belongs to commands; a config has the same, see docs/jobs.md";
constexpr const char* kBuildsNothing = "builds nothing";
constexpr const char* kHasNoGates = "has no gates: one profile of each does not show variation";
constexpr const char* kRepeatTrials = "memduel compare of commands repeats trials";
constexpr const char* kOnlyPrints = "only prints";
constexpr const char* kUseJson = "--json prints the differences for scripts";
constexpr const char* kReadsNoProfiles = "reads no profiles";
constexpr const char* kOfProfiles = "it belongs to two profiles";

constexpr std::array kCompareOptions = {
    OptionOfForms{"--a", kEveryForm},  // the forms are told apart by these
    OptionOfForms{"--b", kEveryForm},
    OptionOfForms{"--parameter-list", kCommands.bit, kHasNoCommands, kOfCommands},
    OptionOfForms{"--parameter-scan", kCommands.bit, kHasNoCommands, kOfCommands},
    OptionOfForms{"--parameter-step-size", kOfCommandLines, kHasNoCommands, kOfCommands},
    OptionOfForms{"--build-a", kEveryForm},
    OptionOfForms{"--build-b", kEveryForm},
    OptionOfForms{"--ref-a", kEveryForm},
    OptionOfForms{"--ref-b", kEveryForm},
    OptionOfForms{"--name", kOfCommandLines, kHasNoCommands, kOfCommands},
    OptionOfForms{"--setup", kOfCommandLines, kHasNoCommands, kOfCommands},
    OptionOfForms{"--prepare", kOfCommandLines, kHasNoCommands, kOfCommands},
    OptionOfForms{"--conclude", kOfCommandLines, kHasNoCommands, kOfCommands},
    OptionOfForms{"--cleanup", kOfCommandLines, kHasNoCommands, kOfCommands},
    OptionOfForms{"--env", kOfCommandLines, kHasNoCommands, kOfCommands},
    OptionOfForms{"--ignore-failure", kOfCommandLines, kHasNoCommands, kOfCommands},
    OptionOfForms{"--round-pattern", kOfCommandLines, kHasNoCommands, kOfCommands},
    OptionOfForms{"--log", kOfCommandLines, kHasNoCommands, kOfCommands},
    OptionOfForms{"--shell", kOfCommandLines | kOfRevisions, "hands nothing to a shell"},
    OptionOfForms{"--default-shell", kOfCommandLines | kOfRevisions, "hands nothing to a shell"},
    OptionOfForms{"--no-shell", kOfCommandLines | kOfRevisions, "hands nothing to a shell"},
    OptionOfForms{"--calibrate", kWithTrials & ~kOneCommand.bit, "does not run two programs"},
    OptionOfForms{"--build", kOfRevisions, kBuildsNothing, "it belongs to --ref-a and --ref-b"},
    OptionOfForms{"--keep", kOfRevisions, kBuildsNothing, "it belongs to --ref-a and --ref-b"},
    OptionOfForms{"--variant", kOfConfig | kMeasured.bit, "has no variant to choose",
                  "it belongs to a config or to measured runs"},
    OptionOfForms{"--variants", kCommands.bit, "has no variant to omit", "omit the option"},
    OptionOfForms{"--out", kWithVerdict, kOnlyPrints, kUseJson},
    OptionOfForms{"--resume", kWithTrials, kTakesNoTrials},
    OptionOfForms{"--repeats", kWithTrials, kTakesNoTrials},
    OptionOfForms{"--min-runs", kOfCommandLines, kHasNoBounds, kSetRepeats},
    OptionOfForms{"--max-runs", kOfCommandLines, kHasNoBounds, kSetRepeats},
    OptionOfForms{"--warmup", kWithTrials, kTakesNoTrials},
    OptionOfForms{"--seed", kWithTrials, kTakesNoTrials},
    OptionOfForms{"--max-minutes", kWithTrials, kTakesNoTrials},
    OptionOfForms{"--no-why", kWithTrials, kTakesNoTrials},
    OptionOfForms{"--set", kWithTrials, "has no config to change"},
    OptionOfForms{"--data-dir", kOfConfig, "has no data sets"},
    OptionOfForms{"--gate", kWithVerdict, kHasNoGates, kRepeatTrials},
    OptionOfForms{"--gate-strict", kWithVerdict, kHasNoGates, kRepeatTrials},
    OptionOfForms{"--on-inconclusive", kWithVerdict, kHasNoGates, kRepeatTrials},
    OptionOfForms{"--bisect", kWithVerdict, kHasNoGates, kRepeatTrials},
    OptionOfForms{"--quiet", kWithVerdict, kOnlyPrints, kUseJson},
    OptionOfForms{"--verbose", kWithVerdict, kOnlyPrints, kUseJson},
    OptionOfForms{"--export", kWithVerdict, kOnlyPrints, kUseJson},
    OptionOfForms{"--export-json", kWithVerdict, kOnlyPrints, kUseJson},
    OptionOfForms{"--export-csv", kWithVerdict, kOnlyPrints, kUseJson},
    OptionOfForms{"--export-markdown", kWithVerdict, kOnlyPrints, kUseJson},
    OptionOfForms{"--process", kProfiles.bit, kReadsNoProfiles, kOfProfiles},
    OptionOfForms{"--stacks", kProfiles.bit, kReadsNoProfiles, kOfProfiles},
    OptionOfForms{"--frames", kProfiles.bit, kReadsNoProfiles, kOfProfiles},
    OptionOfForms{"--all-frames", kProfiles.bit, kReadsNoProfiles, kOfProfiles},
    OptionOfForms{"--json", kProfiles.bit, kReadsNoProfiles,
                  "it belongs to two profiles; use --export json FILE"},
};

/// What was measured earlier: a run directory, its results.json, or another tool's output.
struct Measured {
  RunData run;
  std::string_view tool;
};

constexpr std::string_view kOwnTool = "memduel";
constexpr std::string_view kHyperfine = "hyperfine";

/// Of this or another version.
bool has_results_schema(const nlohmann::json& json) {
  const auto schema = json.is_object() ? json.find("schema") : json.end();
  return schema != json.end() && schema->is_string() &&
         schema->get<std::string>().starts_with("memduel.results");
}

/// An object of JSON, also one with a syntax error, is no profile of another tool.
nlohmann::json read_measured_json(const std::string& path) {
  const std::string text = read_text_file(path);
  if (const auto first = text.find_first_not_of(" \t\r\n");
      first == std::string::npos || text[first] != '{')
    return parse_foreign_json(text);
  try {
    return nlohmann::json::parse(text, refuse_deep_json);
  } catch (const nlohmann::json::exception& error) {
    throw Error(ExitCode::io, "not valid JSON: " + reason_of(error), path);
  } catch (const std::length_error& error) {
    throw Error(ExitCode::io, std::string("not valid JSON: ") + error.what(), path);
  }
}

Measured read_measured(const std::string& path) {
  if (fs::is_directory(path)) return {read_kept_run(path, WithSeries::yes), kOwnTool};
  if (!fs::exists(path))
    throw Error(ExitCode::io, "no such file or directory, expected a measured run", path,
                "two commands are compared with memduel compare --a CMD --b CMD");
  const nlohmann::json json = read_measured_json(path);
  if (is_google_benchmark(json)) return {run_from_google_benchmark(json, path), "Google Benchmark"};
  if (is_hyperfine(json)) return {run_from_hyperfine(json, path), kHyperfine};
  if (!has_results_schema(json)) {
    refuse_as_results(path);
    throw Error(ExitCode::io, "contains no results of memduel, hyperfine or Google Benchmark", path,
                "give a run directory, its results.json, or the JSON of hyperfine or Google "
                "Benchmark");
  }
  return {run_from_results(results_from_json(json, path)), kOwnTool};
}

/// Two files and no run, which a later comparison may replace; a folder with anything else stays as
/// it is.
void make_output_directory(const fs::path& directory) {
  make_directory(directory, "give another --out");
  const bool ours = fs::exists(directory / kResultsFile) && !has_run(directory);
  for (const fs::directory_entry& entry : fs::directory_iterator(directory)) {
    const std::string name = entry.path().filename().string();
    if (ours && (name == kResultsFile || name == kReportFile)) continue;
    throw Error(ExitCode::usage,
                fmt::format("the output directory contains other files, such as {}", name),
                directory.string(), "give another --out");
  }
}

/// What people know a run by: its directory, or the file's name without its ending.
std::string directory_or_stem(const std::string& path) {
  const fs::path file = path;
  if (fs::is_directory(file)) return path;
  return (file.filename() == kResultsFile ? fs::absolute(file).parent_path()
                                          : file.parent_path() / file.stem())
      .string();
}

/// An earlier comparison that is compared is not replaced.
void refuse_to_replace_inputs(const fs::path& directory, const std::vector<fs::path>& inputs) {
  for (const char* own : {kResultsFile, kReportFile})
    for (const fs::path& input : inputs) {
      std::error_code absent;
      if (fs::equivalent(directory / own, input, absent) ||
          fs::equivalent(directory, input, absent))
        throw Error(ExitCode::usage, "cannot write over a file that this command reads",
                    directory.string(), "give another --out");
    }
}

constexpr const char* kExpectMeasured =
    "expected two commands, two measured runs, two profiles or one file of hyperfine";
constexpr const char* kHowToCompare =
    "memduel compare './old' './new', memduel compare runs/old runs/new, or memduel compare "
    "old.mdp new.mdp";

/// The trials of two runs, or of the results in one file of hyperfine.
RunData measured_run(const std::vector<std::string>& words, const std::string& arm) {
  const std::string& a = words.front();
  Measured of_a = read_measured(a);
  if (words.size() == 1) {
    if (of_a.tool == kHyperfine) return comparison_within(std::move(of_a.run), arm, a);
    throw Error(ExitCode::usage,
                fmt::format("{}, found one file of {}", kExpectMeasured, of_a.tool), "compare",
                kHowToCompare);
  }
  const std::string& b = words.back();
  Measured of_b = read_measured(b);
  if (of_a.tool != of_b.tool)
    throw Error(ExitCode::usage,
                fmt::format("expected results of one tool, found those of {} and of {}", of_a.tool,
                            of_b.tool),
                a + ", " + b);
  const auto [name_a, name_b] = names_of_directories(directory_or_stem(a), directory_or_stem(b));
  if (of_a.tool != kHyperfine) return merge_runs(of_a.run, of_b.run, arm, {name_a, a}, {name_b, b});
  const std::optional<Note> others = choose_commands(of_a.run, of_b.run, arm);
  RunData run = merge_runs(of_a.run, of_b.run, "", {name_a, a}, {name_b, b});
  if (others) run.warnings.insert(run.warnings.begin(), *others);
  if (!arm.empty())
    run.environment["reproduce"] =
        quoted_command_line({"memduel", "compare", a, b, "--variant", arm});
  return run;
}

int compare_measured(const CompareArguments& arguments) {
  const RunOptions& options = arguments.options;
  const std::vector<std::string>& words = arguments.words;
  const Kept kept{{words.begin(), words.end()}, options.out};
  check_exports(options.exports, kept);
  GateOptions gate = options.gate;
  name_implied_gates(gate, false);
  Demands demands{.gates = gate.named, .strict_gates = gate.strict, .no_default_gates = true};
  demands.on_inconclusive = gate.inconclusive();
  const Document judged = judged_config({}, demands);
  refuse_undecided_exit(judged, gate);
  if (options.out) {
    refuse_to_replace_inputs(*options.out, kept.inputs);
    make_output_directory(*options.out);
  }
  FinishedRun finished;
  finished.run = measured_run(words, arguments.arm);
  AnalysisSettings settings = settings_for(finished.run, demands);
  settings.design = Design::unpaired;
  // What is there is there: one look with the whole level.
  settings.looks = fixed_looks(static_cast<int>(finished.run.trials.size()));
  finished.results = analyse(finished.run, settings);
  const Ending ending{options.verbose, has_named_gates(judged), options.exports, kept};
  deliver(options.out ? write_outputs(*options.out, finished, ending) : told_of(finished, ending),
          options.quiet);
  return finished.results.overall.exit_code;
}

/// Whether a word names what was measured earlier. A program is executable, and a command need not
/// be a file.
bool is_measured(const std::string& word) {
  std::error_code none;
  return fs::is_directory(word, none) ||
         (fs::is_regular_file(word, none) && ::access(word.c_str(), X_OK) != 0);
}

std::string kind_of_word(const std::string& word) {
  if (fs::is_directory(word)) return "a directory";
  if (is_measured(word)) return is_profile(word) ? "a profile" : "a file";
  return fs::exists(word) ? "a command" : "a command, since no file has this name";
}

[[noreturn]] void refuse_mixture(const std::string& one, const std::string& other) {
  throw Error(ExitCode::usage,
              fmt::format("expected commands, measured runs or profiles, found two of them: {} is "
                          "{}, {} is {}",
                          one, kind_of_word(one), other, kind_of_word(other)),
              "compare", "a command is one word in quotes: memduel compare './old big.bin' ...");
}

/// Whether the words are commands, and not what was measured earlier. Throws Error(usage) for a
/// mixture.
bool are_commands(const std::vector<std::string>& words) {
  const auto measured = std::ranges::find_if(words, is_measured);
  const auto command = std::ranges::find_if_not(words, is_measured);
  if (measured != words.end() && command != words.end()) refuse_mixture(*measured, *command);
  return measured == words.end() && !words.empty();
}

/// Whether the words are profiles, and not measured runs. A file of no known kind beside a profile
/// is read as one. Throws Error(usage) for a profile and a directory or a JSON file.
bool are_profiles(const std::vector<std::string>& words) {
  const auto profile = std::ranges::find_if(words, is_profile);
  if (profile == words.end()) return false;
  const auto other = std::ranges::find_if(words, [](const std::string& word) {
    return fs::is_directory(word) || (word.ends_with(".json") && !is_profile(word));
  });
  if (other != words.end()) refuse_mixture(*profile, *other);
  return true;
}

/// The words are the commands of hyperfine's form, and --a and --b those of the other.
CompareArguments with_commands(CompareArguments arguments) {
  std::vector<std::string>& commands = arguments.commands.run.commands;
  const bool is_of_builds = !arguments.build_a.empty() || !arguments.build_b.empty() ||
                            !arguments.revisions.ref_a.empty() ||
                            !arguments.revisions.ref_b.empty();
  arguments.commands.run.are_lettered = !arguments.a.empty() || !arguments.b.empty();
  if (!arguments.a.empty()) commands.push_back(arguments.a);
  commands.insert(commands.end(), arguments.b.begin(), arguments.b.end());
  check_lists(arguments.commands.run.lists);
  check_scan(arguments.commands.run.scan);
  if (commands.empty() && !is_of_builds) {
    std::ranges::transform(arguments.words, arguments.words.begin(), find_run);
    if (are_commands(arguments.words)) commands = std::exchange(arguments.words, {});
  }
  arguments.commands.run.shell = shell_of(arguments.commands);
  return arguments;
}

/// The form whose two options are there. Throws Error(usage) when one is missing or several are
/// mixed.
CommandForm form_of(const CompareArguments& arguments) {
  struct Pair {
    CommandForm form;
    const char* names;
    bool has_a;
    bool has_b;
  };
  const ComparedCommands& commands = arguments.commands.run;
  const RevisionsArguments& revisions = arguments.revisions;
  const bool config = !arguments.words.empty() && config_in(arguments.words);
  const std::array<Pair, 3> pairs = {
      {{kCommands, "--a and --b", !commands.commands.empty(),
        commands.commands.size() > 1 ||
            (!commands.commands.empty() && (!commands.lists.empty() || !commands.scan.empty()))},
       {config ? kDirectoriesOfConfig : kDirectories, "--build-a and --build-b",
        !arguments.build_a.empty(), !arguments.build_b.empty()},
       {config ? kRevisionsOfConfig : kRevisions, "--ref-a and --ref-b", !revisions.ref_a.empty(),
        !revisions.ref_b.empty()}}};
  std::optional<CommandForm> form;
  for (const Pair& pair : pairs) {
    if (!pair.has_a && !pair.has_b) continue;
    const bool is_alone =
        pair.form.bit == kCommands.bit && !pair.has_b && arguments.a.empty() && arguments.b.empty();
    if (!is_alone && (!pair.has_a || !pair.has_b))
      throw Error(ExitCode::usage, std::string("needs both ") + pair.names, "compare");
    if (form)
      throw Error(ExitCode::usage, "expected one of --a, --build-a and --ref-a, found two",
                  "compare");
    form = is_alone ? kOneCommand : pair.form;
  }
  if (form) return *form;
  return are_profiles(arguments.words) ? kProfiles : kMeasured;
}

void check_words(const CompareArguments& arguments, CommandForm form) {
  const std::size_t words = arguments.words.size();
  const ComparedCommands& commands = arguments.commands.run;
  if (form.bit == kCommands.bit && words > 0)
    throw Error(ExitCode::usage, fmt::format("found \"{}\" beside --a and --b", arguments.words[0]),
                "compare", "quote each command: --a './old --load big.bin'");
  if (form.bit == kProfiles.bit && words != 2)
    throw Error(ExitCode::usage, "expected two profiles", "compare",
                "memduel compare old.mdp new.mdp");
  if (form.bit == kMeasured.bit && words != 2 &&
      (words != 1 || !fs::is_regular_file(arguments.words[0])))
    throw Error(ExitCode::usage, kExpectMeasured, "compare", kHowToCompare);
  if ((form.bit & (kOfDirectories | kOfRevisions)) != 0 && words == 0)
    throw Error(ExitCode::usage, "found no program", "compare",
                "end the command with -- PROGRAM ARGS…, or with a config");
  if ((form.bit & kOfRevisions) != 0 && !commands.shell.empty() &&
      arguments.revisions.build.empty())
    throw Error(ExitCode::usage, "expected --build, which the shell would run, found none",
                "--shell", "omit it");
}

BuildsArguments builds_arguments(const CompareArguments& arguments) {
  BuildsArguments builds;
  builds.words = arguments.words;
  if (!arguments.arm.empty()) builds.arm = arguments.arm;
  builds.calibrate = arguments.commands.run.calibrate;
  builds.options = arguments.options;
  return builds;
}

int compare_in_form(const CompareArguments& arguments) {
  const CommandForm form = form_of(arguments);
  check_words(arguments, form);
  refuse_options_of_other_forms(*arguments.verb, form, kCompareOptions);
  if ((form.bit & kOfCommandLines) != 0)
    return run_commands(arguments.commands.run, arguments.options);
  if (form.bit == kMeasured.bit) return compare_measured(arguments);
  if (form.bit == kProfiles.bit) {
    ProfilesArguments profiles = arguments.profiles;
    profiles.baseline = arguments.words[0];
    profiles.candidate = arguments.words[1];
    return compare_profile_files(profiles);
  }
  if ((form.bit & kOfDirectories) != 0)
    return compare_directories(arguments.build_a, arguments.build_b, builds_arguments(arguments));
  RevisionsArguments revisions = arguments.revisions;
  revisions.shell = arguments.commands.run.shell;
  return compare_revisions(revisions, builds_arguments(arguments));
}

int compare(const CompareArguments& given) {
  const CompareArguments arguments = with_commands(given);
  const int code = compare_in_form(arguments);
  return arguments.options.gate.bisect ? bisect_code(code) : code;
}

void add_compared_commands(CLI::App& verb, CompareArguments& arguments) {
  ComparedCommands& commands = arguments.commands.run;
  const auto add = [&](const char* name, auto& value, const char* type, const char* help) {
    return verb.add_option(name, value, help)->type_name(type)->group(kCommandOptions);
  };
  add("--a", arguments.a, "CMD", "run CMD as the baseline");
  add("--b", arguments.b, "CMD", "run CMD as a candidate (repeatable)")->allow_extra_args(false);
  add("--parameter-list,-L", commands.lists, "...", "replace {VAR} by each V: VAR V,V (repeatable)")
      ->allow_extra_args(false);
  add("--parameter-scan,-P", commands.scan, "...", "replace {VAR} by each number: VAR MIN MAX")
      ->expected(1, 3)
      ->allow_extra_args(false);
  add("--parameter-step-size,-D", commands.step, "", "step of the scan (default: 1)");
  add_command_options(verb, arguments.commands);
  verb.add_flag("--calibrate", commands.calibrate, "allow equal commands or builds: an A/A test")
      ->group(kCommandOptions);
}

void add_profile_options(CLI::App& verb, ProfilesArguments& profiles) {
  add_image_option(verb, profiles.image);
  add_summary_options(verb, profiles.options);
  add_json_option(verb, profiles.json);
  for (const char* name : {"--process", "--stacks", "--frames", "--all-frames", "--json"})
    verb.get_option(name)->group("Profiles to compare");
}

void add_build_options(CLI::App& verb, CompareArguments& arguments) {
  constexpr const char* kBuildOptions = "Builds and git revisions to compare";
  const auto add = [&](const char* name, auto& value, const char* type, const char* help) {
    return verb.add_option(name, value, help)->type_name(type)->group(kBuildOptions);
  };
  add("--build-a", arguments.build_a, "DIR", "run PROGRAM of this build as the baseline");
  add("--build-b", arguments.build_b, "DIR", "run PROGRAM of this build as the candidate");
  RevisionsArguments& revisions = arguments.revisions;
  add("--ref-a", revisions.ref_a, "REV", "build this git revision as the baseline");
  add("--ref-b", revisions.ref_b, "REV", "build this git revision as the candidate");
  add("--build", revisions.build, "CMD", "build a revision by CMD in its root (repeatable)")
      ->allow_extra_args(false);
  add("--keep", revisions.keep, "PATH", "use the candidate's PATH in both (repeatable)")
      ->allow_extra_args(false);
}

}  // namespace

void add_compare(CLI::App& app, Action& action) {
  const auto [verb, arguments] =
      add_verb(app, action, "compare",
               "compare commands, builds or revisions, or two measured runs or profiles", compare);
  verb->group(kCompareGroup);
  set_usage(*verb, {"CMD... [OPTIONS]", "--a CMD --b CMD... [OPTIONS]",
                    "--build-a DIR --build-b DIR [OPTIONS] -- PROGRAM [ARG]...",
                    "--ref-a REV --ref-b REV [OPTIONS] -- PROGRAM [ARG]...", "RUN RUN [OPTIONS]",
                    "PROFILE PROFILE [OPTIONS]"});
  verb->footer(
      "Examples:\n"
      "  memduel compare './old --load big.bin' './new --load big.bin'\n"
      "  memduel compare -L n 1,2,4 './sort --threads {n}'\n"
      "  memduel compare --ref-a main --ref-b HEAD --build 'make -j8' -- ./server\n"
      "  memduel compare runs/monday runs/tuesday\n"
      "  memduel compare before.mdp after.mdp\n"
      "\n"
      "CMD is split by POSIX quoting rules. {seed}, {trial_dir} and {port:NAME} are replaced; "
      "write {{x}} for {x}. The first command, with the first value of each parameter, is the "
      "baseline; one command is only measured, as by memduel measure. "
      "Commands of --setup, --prepare, --conclude and --cleanup are run by a shell. --env, "
      "--prepare and --conclude are given once for all commands, or once for each. Variants are "
      "called a, b, c and so on without -n. --shell and -S also run --build.\n"
      "REGEX: its first group, or (?<round>...), is the number of the round.\n"
      "PROGRAM may be a config instead: --variant names what runs in both builds.\n"
      "RUN: a run directory or a name that memduel runs lists, its results.json, or the JSON "
      "output of hyperfine or Google Benchmark. One file of hyperfine with several commands may be "
      "the only RUN.\n"
      "PROFILE: what memduel summary reads; compare prints what memduel summary --diff does.");
  add_compared_commands(*verb, *arguments);
  add_build_options(*verb, *arguments);
  add_profile_options(*verb, arguments->profiles);
  verb->add_option("WHAT", arguments->words,
                   "runs or profiles to compare, or a program or config to run")
      ->group("");
  verb->add_option("--variant", arguments->arm, "compare this variant (default: the baseline)")
      ->type_name("NAME")
      ->group(kWhatOptions);
  RunOptions& options = arguments->options;
  add_arms(*verb, options);
  add_config_options(*verb, options);
  add_plan_options(*verb, options);
  add_trial_bounds(*verb, options);
  add_no_why(*verb, options);
  add_gate_options(*verb, options.gate);
  add_bisect(*verb, options.gate);
  add_out(*verb, options);
  add_resume(*verb, options);
  add_report_options(*verb, options);
  add_hyperfine_exports(*verb, options);
  add_exit_codes(*verb, true);
  arguments->verb = verb;
}

}  // namespace memduel::cli
