#include <fmt/format.h>

#include <algorithm>

#include "cli/print.h"
#include "cli/program.h"
#include "compare.h"
#include "config/config_json.h"
#include "config/experiment.h"
#include "duel.h"
#include "finished_run.h"
#include "follow_up_commands.h"
#include "model/job_facts.h"
#include "model/run_data.h"
#include "model/run_directory.h"
#include "run/builds.h"
#include "run/plan.h"
#include "run/store.h"
#include "state_runs.h"
#include "util/command_line.h"
#include "util/error.h"
#include "util/file.h"
#include "verdict/gates.h"

namespace memduel::cli {
namespace {

namespace fs = std::filesystem;

Document document_in(const fs::path& config, const BuildsArguments& arguments) {
  return load_document(config, arguments.words.front());
}

Overrides overrides_of(const BuildsArguments& arguments) {
  Overrides overrides = overrides_from(arguments.options);
  overrides.default_gates_if_named_only = true;
  return overrides;
}

struct PreparedDuel {
  BuildDuel duel;
  Experiment experiment;
  RunFacts facts;
};

void add_hashes(RunFacts& facts, const std::vector<BuildProgram>& programs) {
  for (const BuildProgram& program : programs)
    for (const BuildFile& file : program.files)
      facts.programs[file.path.string()] = file.code_sha256;
}

/// `root`: of the repository whose worktrees the builds are, and then both run in them.
BuildDuel duel_between(const BuildPair& builds, const BuildsArguments& arguments,
                       const std::optional<fs::path>& config, const std::optional<fs::path>& root) {
  if (!config) {
    const fs::path here = current_directory();
    return duel_of_program(builds, arguments.words, root ? builds.a : here, root ? builds.b : here);
  }
  const std::string name = arguments.words.front();
  BuildDuel duel = duel_of_config(builds, document_in(*config, arguments), arguments.arm, name);
  if (root) start_in_worktrees(duel, builds, *root, config->parent_path());
  return duel;
}

/// The warning for builds whose programs are the same; the run itself warns of equal files.
Note equal_builds(const BuildDuel& duel) {
  std::string programs;
  for (const BuildProgram& program : duel.b)
    programs += (programs.empty() ? "" : "; ") + describe_build(program);
  return {"builds_have_equal_code",
          "the programs and the libraries that they load are the same in both builds: " + programs,
          "only a plugin, a helper program or a file can make a difference; to measure the noise "
          "give --calibrate"};
}

PreparedDuel prepare_duel(const BuildPair& builds, const BuildsArguments& arguments,
                          const std::optional<fs::path>& root) {
  const auto config = config_in(arguments.words);
  PreparedDuel prepared;
  prepared.duel = duel_between(builds, arguments, config, root);
  const std::string origin = config ? arguments.words.front() : "compare";
  prepared.experiment = make_experiment(prepared.duel.document, origin,
                                        config ? config->parent_path() : current_directory(),
                                        overrides_of(arguments));
  if (config) prepared.facts.inputs = {*config};
  prepared.facts.environment["builds"] = {{builds.arm_a, describe_programs(prepared.duel.a)},
                                          {builds.arm_b, describe_programs(prepared.duel.b)}};
  add_hashes(prepared.facts, prepared.duel.a);
  add_hashes(prepared.facts, prepared.duel.b);
  if (!builds.calibrate && same_programs(prepared.duel) &&
      !warning_of_equal_contents(prepared.experiment))
    prepared.facts.warning = equal_builds(prepared.duel);
  return prepared;
}

/// A copy of the options with the gates that --bisect implies.
BuildsArguments with_gates(const BuildsArguments& arguments) {
  BuildsArguments settled = arguments;
  const auto config = config_in(arguments.words);
  name_implied_gates(settled.options.gate,
                     config && !document_in(*config, arguments).gates.empty());
  return settled;
}

/// A copy of the options in which the run's directory is settled.
BuildsArguments with_directory(const BuildsArguments& arguments) {
  BuildsArguments settled = arguments;
  settled.options.out = output_directory(arguments.options, "compare").string();
  return settled;
}

void tell(const RunOptions& options, const std::string& text) {
  if (!options.quiet) say(fmt::format("{}\n", text));
}

/// What people know the two sides by, where that tells them apart.
std::pair<std::string, std::string> two_names(const std::optional<std::string>& a,
                                              const std::optional<std::string>& b) {
  if (!a || !b || *a == *b) return {"a", "b"};
  return {*a, *b};
}

/// A branch or tag by its name, everything else by its commit.
std::pair<std::string, std::string> arms_of(const Revision& a, const Revision& b) {
  constexpr std::size_t kShownDigits = 12;
  const auto name = [](const Revision& revision) {
    const std::string commit = revision.commit.substr(0, kShownDigits);
    return revision.commit.starts_with(revision.name)
               ? commit
               : arm_name_for(revision.name).value_or(commit);
  };
  return two_names(name(a), name(b));
}

/// Of revisions that hold the same files: why the run ends here, for people.
int nothing_differs(const RunOptions& options, const Revision& a, const Revision& b) {
  std::string text = fmt::format(
      "Nothing was built differently: {} and {} contain the same files.\nNo trial was run: no "
      "comparison can fail",
      describe_revision(a), describe_revision(b));
  for (const std::string& gate : options.gate.named) {
    if (gate != kDefaultGates && has_ceiling(parse_gate(gate)))
      text += fmt::format(", and {} was not checked", gate);
  }
  if (!options.exports.empty()) text += ", and no report was written";
  if (!options.quiet) print(text + ".\n");
  return 0;
}

/// The commands beside the arms, which are of the checkout, and the arguments in the worktrees.
void check_config_before_building(const fs::path& config, const Experiment& experiment,
                                  const BuildsArguments& arguments, const WorktreePlan& plan) {
  const std::string name = arguments.words.front();
  const std::string arm = arguments.arm.value_or(experiment.config.baseline);
  for (const Variant& variant : experiment.variants)
    if (variant.name == arm) step_hashes(experiment, {&variant, 1});
  for (const WorktreeArguments& one : arguments_in_worktrees(
           document_in(config, arguments), arguments.arm, name, plan.root, config.parent_path()))
    refuse_unreachable(one, plan);
}

/// A mistake in gates, outputs, arguments or config is told before minutes of building.
void check_before_building(const BuildsArguments& arguments, const WorktreePlan& plan) {
  const auto config = config_in(arguments.words);
  const RunOptions& options = arguments.options;
  Kept kept{{}, options.out};
  if (config) kept.inputs = {*config};
  check_exports(options.exports, kept);
  Overrides overrides = overrides_of(arguments);
  const auto check = [&](const Experiment& experiment) {
    refuse_bad_gates(experiment);
    refuse_undecided_exit(experiment.config, options.gate);
    refuse_unused_data_dir(experiment, options);
  };
  if (config) {
    overrides.calibrate = true;  // one arm is enough for two builds
    const Experiment experiment = load_experiment(*config, overrides);
    check(experiment);
    check_config_before_building(*config, experiment, arguments, plan);
    return;
  }
  refuse_unreachable({{arguments.words.begin() + 1, arguments.words.end()},
                      current_directory(),
                      {},
                      "-- " + arguments.words.front()},
                     plan);
  Document document = document_of_program("compare", arguments.words, "");
  document.variants.resize(2);
  document.variants[0].name = document.baseline = "a";
  document.variants[1].name = document.variants[1].cwd.emplace("b");
  check(make_experiment(document, "compare", current_directory(), overrides));
}

/// One side of compare_revisions.
struct Side {
  const char* arm;
  const char* what;
  const Revision& revision;
  fs::path worktree;
  std::string time;  ///< the same for both: a program that holds it must not differ by it
};

/// What the commands that build an arm print.
fs::path log_of_build(const fs::path& directory, const char* arm) {
  return directory / kLogsFolder / fmt::format("build-{}.log", arm);
}

void build_side(const Side& side, const RevisionsArguments& revisions, const fs::path& directory,
                const RunOptions& options) {
  const fs::path log = log_of_build(directory, side.arm);
  fs::create_directories(log.parent_path());
  fs::remove(log);
  for (const std::string& text : revisions.build) {
    MakeOptions make;
    make.command = revisions.shell.empty() ? split_typed_command(text)
                                           : CommandLine{{}, in_shell(revisions.shell, text)};
    make.command.env.emplace("SOURCE_DATE_EPOCH", side.time);
    make.directory = side.worktree;
    make.log = log;
    tell(options,
         fmt::format("building {} {}: {}", side.what, describe_revision(side.revision), text));
    const int status = run_make(make);
    if (status == 0) continue;
    throw Error(ExitCode::cannot_measure,
                fmt::format("the {} {} does not build: '{}' ended with status {}{}", side.what,
                            describe_revision(side.revision), text, status, last_lines(log)),
                log.string(), "nothing was measured, so no gate passed");
  }
}

/// A program that only one side lacks was not built, although the build succeeded: nothing can be
/// measured then. One that both lack is misspelt.
PreparedDuel prepare_revisions(const BuildPair& builds, const BuildsArguments& arguments,
                               const fs::path& root) {
  try {
    return prepare_duel(builds, arguments, root);
  } catch (const Error& error) {
    const bool of_baseline = error.where().starts_with(builds.a.string());
    const bool of_candidate = error.where().starts_with(builds.b.string());
    if (error.code() != ExitCode::usage || !(of_baseline || of_candidate)) throw;
    const fs::path log = log_of_build(*arguments.options.out, of_baseline ? "a" : "b");
    const bool of_one_side = of_baseline || (!config_in(arguments.words) &&
                                             is_in_build(builds.a, arguments.words.front()));
    const char* side = of_baseline ? "the baseline: " : of_one_side ? "the candidate: " : "";
    throw Error(of_one_side ? ExitCode::cannot_measure : ExitCode::usage,
                side + std::string(error.what()), error.where(),
                fmt::format("{}; its build printed {}", error.advice(), log.string()));
  }
}

/// The command line that was given, of the commits that the revisions are now, to another
/// directory.
std::string reproduction(const Revision& a, const Revision& b) {
  constexpr std::size_t kProgramAndVerb = 2;
  std::vector<std::string> given = given_words();
  given.erase(given.begin(), given.begin() + kProgramAndVerb);
  for (const char* option : {"--ref-a", "--ref-b", "--out", "--max-minutes"})
    given = without_option(std::move(given), option, 1);
  given = without_option(std::move(given), "--resume", 0);
  std::vector<std::string> words = {"memduel", "compare", "--ref-a", a.commit, "--ref-b", b.commit};
  words.insert(words.end(), given.begin(), given.end());
  return quoted_command_line(words);
}

int duel_revisions(const RevisionsArguments& revisions, const BuildsArguments& arguments,
                   const fs::path& root, const Revision& a, const Revision& b) {
  const fs::path directory = *arguments.options.out;
  const Worktrees worktrees(root, directory / kWorktreesFolder, a, b);
  worktrees.keep(revisions.keep);
  const auto [arm_a, arm_b] = arms_of(a, b);
  const BuildPair builds{worktrees.baseline(), worktrees.candidate(), arm_a, arm_b,
                         arguments.calibrate};
  build_side({"a", "baseline", a, builds.a, b.time}, revisions, directory, arguments.options);
  build_side({"b", "candidate", b, builds.b, b.time}, revisions, directory, arguments.options);
  PreparedDuel prepared = prepare_revisions(builds, arguments, root);
  prepared.facts.environment["revisions"] = {{arm_a, a.commit}, {arm_b, b.commit}};
  prepared.facts.environment["subjects"] = {{arm_a, a.subject}, {arm_b, b.subject}};
  prepared.facts.environment["reproduce"] = reproduction(a, b);
  return duel_and_conclude(prepared.experiment, arguments.options, prepared.facts);
}

}  // namespace

std::optional<fs::path> config_in(const std::vector<std::string>& words) {
  const fs::path path = words.front();
  const bool config = words.size() == 1 && path.extension() == ".json" && fs::exists(path);
  return config ? std::optional(fs::absolute(path)) : std::nullopt;
}

std::pair<std::string, std::string> names_of_directories(const std::string& a,
                                                         const std::string& b) {
  const auto last_name = [](const std::string& directory) {
    return fs::absolute(directory + "/.").lexically_normal().parent_path().filename().string();
  };
  return two_names(arm_name_for(last_name(a)), arm_name_for(last_name(b)));
}

int compare_directories(const std::string& a, const std::string& b, const BuildsArguments& given) {
  const BuildsArguments arguments = with_gates(given);
  const auto [arm_a, arm_b] = names_of_directories(a, b);
  const BuildPair builds{a, b, arm_a, arm_b, arguments.calibrate};
  const PreparedDuel prepared = prepare_duel(builds, arguments, std::nullopt);
  return duel_and_conclude(prepared.experiment, arguments.options, prepared.facts);
}

int compare_revisions(const RevisionsArguments& revisions, const BuildsArguments& given) {
  const BuildsArguments arguments = with_gates(given);
  const fs::path root = repository_root();
  const Revision a = find_revision(root, revisions.ref_a);
  const Revision b = find_revision(root, revisions.ref_b);
  const fs::path out =
      arguments.options.out ? fs::path(*arguments.options.out) : runs_directory() / "compare";
  check_before_building(
      arguments,
      {root, fs::weakly_canonical(fs::absolute(out / kWorktreesFolder)), a, b, revisions.keep});
  if (revisions.shell.empty())
    for (const std::string& text : revisions.build) split_typed_command(text);
  if (a.tree == b.tree && !arguments.calibrate) return nothing_differs(arguments.options, a, b);
  const BuildsArguments settled = with_directory(arguments);
  if (!settled.options.resume) refuse_used_directory(*settled.options.out);
  end_what_was_left();
  remove_left_worktrees(root);
  const StopRequest& stop = listen_for_signals();
  try {
    return duel_revisions(revisions, settled, root, a, b);
  } catch (const Error&) {
    // What a signal ended on the way, such as git, fails in ways of its own.
    if (!stop.asked()) throw;
    const std::string directory = *settled.options.out;
    const bool measured = has_run(directory);
    throw stop.error(
        "stopped by a signal; the worktrees are gone", directory,
        measured ? with_command("go on with", resume_command(given_words(), directory)) : "");
  }
}

}  // namespace memduel::cli
