// memduel: parses the command line, runs one verb, turns errors into one message and an exit code.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <new>
#include <string>
#include <string_view>

#include "base/characters.h"
#include "base/error.h"
#include "base/inherited_state.h"
#include "base/standard_error.h"
#include "base/text.h"
#include "cli/finished_run.h"
#include "cli/help.h"
#include "cli/verbs.h"

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
    "4 a file or data set failed, 5 undecided under --on-undecided fail, 130 and 143 interrupted.";

/// Whether the exit code is a command's, which must not be mistaken for one of memduel's.
bool returns_status_of_command(const CLI::App& app, int argc, char** argv) {
  const bool has_command = std::any_of(
      argv, argv + argc, [](const char* word) { return std::string_view(word) == "--"; });
  return app.got_subcommand("record") || (app.got_subcommand("watch") && has_command);
}

int own_failure(const CLI::App& app, int argc, char** argv, memduel::ExitCode code) {
  return returns_status_of_command(app, argc, argv) ? memduel::cli::kOwnFailure
                                                    : static_cast<int>(code);
}

/// What goes into a config and from there into reports must be text; a recorded or watched
/// command's arguments are nobody's business but its own.
void refuse_arguments_that_are_no_text(const CLI::App& app, int argc, char** argv) {
  if (app.got_subcommand("record") || app.got_subcommand("watch")) return;
  for (int i = 1; i < argc; ++i) {
    if (memduel::valid_utf8(argv[i]) == argv[i]) continue;
    throw memduel::Error(memduel::ExitCode::usage,
                         fmt::format("found argument {}, \"{}\", which is not UTF-8", i,
                                     memduel::escape_terminal(argv[i])),
                         "", "put it into a script, and name the script");
  }
}

/// An empty name is a variable of a script that was never set, and no default.
void refuse_empty_names(const CLI::App& app) {
  for (const CLI::App* verb : app.get_subcommands()) {
    for (const CLI::Option* option : verb->get_options()) {
      const bool is_name = option->get_items_expected_max() == 1 && !option->results().empty();
      if (is_name && option->results().front().empty())
        throw memduel::Error(memduel::ExitCode::usage, "found an empty text, expected a value",
                             option->get_name());
    }
    refuse_empty_names(*verb);
  }
}

/// No name of a file commands the terminal.
void print_failure(const std::string& message) {
  const std::string text = fmt::format("memduel: {}\n", memduel::escape_terminal_lines(message));
  memduel::say(memduel::cli::fitted_to(STDERR_FILENO, text));
}

int print_parse_error(const CLI::App& app, const CLI::ParseError& error, int argc, char** argv) {
  if (error.get_exit_code() == 0) return app.exit(error);  // --help and --version
  print_failure(fmt::format("{}\n  see memduel --help, or memduel VERB --help", error.what()));
  return own_failure(app, argc, argv, memduel::ExitCode::usage);
}

/// CLI11 would say that a verb is missing.
int refuse_unknown_verb(const CLI::App& app, int argc, char** argv) {
  std::vector<std::string> verbs;
  for (const CLI::App* verb : app.get_subcommands(nullptr)) verbs.push_back(verb->get_name());
  const bool known =
      argc < 2 || *argv[1] == '-' || std::find(verbs.begin(), verbs.end(), argv[1]) != verbs.end();
  if (known) return 0;
  const std::optional<std::string> nearest = memduel::nearest_name(argv[1], verbs);
  print_failure(fmt::format("found \"{}\", expected a verb\n  {}", argv[1],
                            nearest ? "did you mean " + *nearest + "?" : "see memduel --help"));
  return static_cast<int>(memduel::ExitCode::usage);
}

}  // namespace

int main(int argc, char** argv) {
  memduel::undo_inherited_state();
  CLI::App app{kDescription, "memduel"};
  app.set_version_flag("--version", "memduel " MEMDUEL_VERSION);
  app.formatter(std::make_shared<memduel::cli::HelpFormatter>());
  app.require_subcommand(1);
  app.footer(kFooter);
  memduel::cli::Action action;
  memduel::cli::add_run(app, action);
  memduel::cli::add_compare(app, action);
  memduel::cli::add_record(app, action);
  memduel::cli::add_watch(app, action);
  memduel::cli::add_report(app, action);
  memduel::cli::add_summary(app, action);
  memduel::cli::add_flamegraph(app, action);
  memduel::cli::add_export(app, action);
  memduel::cli::add_explain(app, action);
  memduel::cli::add_check(app, action);
  memduel::cli::add_calibrate(app, action);
  memduel::cli::add_plan(app, action);
  memduel::cli::add_ablate(app, action);
  memduel::cli::add_import_appfl(app, action);
  memduel::cli::add_budget(app, action);
  memduel::cli::add_checkpoints(app, action);
  memduel::cli::add_doctor(app, action);
  memduel::cli::add_list(app, action);
  memduel::cli::add_generate(app, action);
  if (const int status = refuse_unknown_verb(app, argc, argv); status != 0) return status;
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return print_parse_error(app, error, argc, argv);
  }
  try {
    refuse_arguments_that_are_no_text(app, argc, argv);
    refuse_empty_names(app);
    return action();
  } catch (const memduel::Error& error) {
    print_failure(error.message());
    return own_failure(app, argc, argv, error.code());
  } catch (const std::filesystem::filesystem_error& error) {
    const std::string path = error.path1().string();
    print_failure(fmt::format("{}: {}", path.empty() ? "the current directory" : path,
                              error.code().message()));
    return own_failure(app, argc, argv, memduel::ExitCode::io);
  } catch (const std::bad_alloc&) {
    print_failure("the memory that is allowed here does not suffice (ulimit -v, ulimit -d)");
    return own_failure(app, argc, argv, memduel::ExitCode::io);
  } catch (const std::exception& error) {
    print_failure(error.what());
    return own_failure(app, argc, argv, memduel::ExitCode::io);
  }
}
