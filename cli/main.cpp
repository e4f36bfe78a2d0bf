// memduel: its verbs, and how it finds those that other programs bring.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/inherited_state.h"
#include "base/installed.h"
#include "cli/program.h"
#include "cli/verbs.h"

namespace memduel::cli {
namespace {

constexpr const char* kDescription =
    "Does this change make a program use less memory, by how much, where, and does it still "
    "compute the same thing?";

constexpr const char* kFooter =
    "Examples:\n"
    "  memduel run configs/quickstart.json\n"
    "  memduel compare --a './old --load big.bin' --b './new --load big.bin'\n"
    "  memduel check runs/quickstart --gate 'server.peak_rss_bytes<=+2%'\n"
    "\n"
    "Exit codes: 0 no gate failed, 1 a gate failed, 2 bad usage or config, 3 could not measure,\n"
    "4 a file or data set failed, 5 undecided under --on-undecided fail, 130 and 143 interrupted.\n"
    "\n"
    "A program memduel-VERB beside memduel or in PATH is a verb, too. The laboratory of replays\n"
    "brings budget and checkpoints: memduel laboratory --help.";

bool returns_status_of_command(const CLI::App& app, int argc, char** argv) {
  const bool has_command = std::any_of(
      argv, argv + argc, [](const char* word) { return std::string_view(word) == "--"; });
  if (!app.got_subcommand("watch")) return app.got_subcommand("record");
  return has_command || app.get_subcommand("watch")->count("CMD") > 0;
}

/// A recorded or watched command's arguments are nobody's business but its own.
bool takes_any_bytes(const CLI::App& app) {
  return app.got_subcommand("record") || app.got_subcommand("watch");
}

/// Verbs that a package has which may not be installed.
constexpr std::array kVerbsOfLaboratory = {"budget", "checkpoints", "laboratory"};

/// As git finds git-VERB: beside memduel, then in PATH.
int run_program_of(const CLI::App& app, const std::string& verb, char** argv) {
  std::string name = "memduel-" + verb;
  const std::string program = own_program(name);
  argv[1] = name.data();  // by which it knows the verb
  if (verb.find('/') == std::string::npos) execvp(program.c_str(), argv + 1);
  if (std::ranges::find(kVerbsOfLaboratory, verb) == kVerbsOfLaboratory.end())
    return refuse_verb(app, verb);
  print_failure("found \"" + verb +
                "\", a verb of the laboratory of replays, which is not installed here\n"
                "  the package memduel-laboratory has it; from source: build preset release");
  return static_cast<int>(ExitCode::usage);
}

int run(int argc, char** argv) {
  CLI::App app{kDescription, "memduel"};
  app.set_version_flag("--version", "memduel " MEMDUEL_VERSION);
  prepare(app, kFooter);
  Action action;
  add_verbs(app, action);
  ProgramRules rules;
  rules.returns_status_of_command = returns_status_of_command;
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
  return memduel::cli::run(argc, argv);
}
