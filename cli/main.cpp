// memduel: its verbs, and how it finds those that other programs bring.
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "cli/program.h"
#include "cli/verbs.h"
#include "gate_options.h"
#include "util/error.h"
#include "util/process.h"

namespace memduel::cli {
namespace {

constexpr const char* kDescription =
    "compare the memory of programs: how much, how sure, and where";

constexpr const char* kExamples =
    "Examples:\n"
    "  memduel compare --a './old --load big.bin' --b './new --load big.bin'\n"
    "  memduel run configs/quickstart.json\n"
    "  memduel check runs/quickstart --gate 'server.peak_rss_bytes<=+2%'\n"
    "\n"
    "A program memduel-NAME beside "
    "memduel or in PATH is also a command.\n"
    "\n";

/// Whether the words before -- have `option`; a command line that could not be parsed has it, too.
bool is_given(std::string_view option) {
  const auto& words = given_words();
  const auto end = std::ranges::find(words, "--");
  return std::find(words.begin(), end, option) != end;
}

bool returns_status_of_command(const CLI::App& app) {
  if (!app.got_subcommand("watch")) return app.got_subcommand("record");
  const bool has_command = std::ranges::find(given_words(), "--") != given_words().end();
  return has_command || app.get_subcommand("watch")->count("CMD") > 0;
}

int code_of_failure(const CLI::App& app, ExitCode code) {
  if (returns_status_of_command(app)) return kOwnFailure;
  const bool bisects = app.got_subcommand("compare") || app.got_subcommand("check");
  return bisects && is_given("--bisect") ? bisect_code(static_cast<int>(code))
                                         : static_cast<int>(code);
}

/// A recorded or watched command's arguments are nobody's business but its own.
bool takes_any_bytes(const CLI::App& app) {
  return app.got_subcommand("record") || app.got_subcommand("watch");
}

/// Verbs that a package has which may not be installed.
constexpr std::array kCommandsOfFl = {"budget", "checkpoints", "fl"};

/// As git finds git-VERB: beside memduel, then in PATH.
int run_program_of(const CLI::App& app, const std::string& verb, char** argv) {
  std::string name = "memduel-" + verb;
  const std::string program = own_program(name);
  argv[1] = name.data();  // by which it knows the verb
  if (verb.find('/') == std::string::npos) execvp(program.c_str(), argv + 1);
  if (std::ranges::find(kCommandsOfFl, verb) == kCommandsOfFl.end()) return refuse_verb(app, verb);
  print_failure("found \"" + verb +
                "\", a command of memduel-fl, which is not installed\n  install the package "
                "memduel-fl; from source: build preset release");
  return static_cast<int>(ExitCode::usage);
}

int run(int argc, char** argv) {
  CLI::App app{kDescription, "memduel"};
  prepare(app, kExamples + exit_code_table(), other_programs());
  app.set_version_flag("--version", "memduel " MEMDUEL_VERSION, "print the version");
  Action action;
  add_verbs(app, action);
  ProgramRules rules;
  rules.code_of_failure = code_of_failure;
  rules.takes_any_bytes = takes_any_bytes;
  rules.run_other = [&app](const std::string& verb, char** words) {
    return run_program_of(app, verb, words);
  };
  return run_program(app, action, argc, argv, rules);
}

}  // namespace
}  // namespace memduel::cli

int main(int argc, char** argv) {
  memduel::undo_inherited_state();
  // What each thread keeps free in an arena of its own was 8% of the peak of a long run.
  ::mallopt(M_ARENA_MAX, 1);
  return memduel::cli::run(argc, argv);
}
