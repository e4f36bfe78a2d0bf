// A command line of verbs: prints help that fits a terminal, parses it, runs one verb, turns errors
// into one message and an exit code.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "cli/verbs.h"
#include "util/error.h"

namespace memduel::cli {

inline constexpr const char* kCommandHelp = "command to run, with its arguments, after --";

/// Broken at spaces so that it fits 80 columns; continued lines start with `indent` spaces.
std::string wrapped_help(const std::string& line, std::size_t indent);

/// The same for each line of a text, with the line's own indent.
std::string wrapped_lines(const std::string& text);

/// The help of an app: description, usage, then every option on one line, in its groups, in
/// columns as wide as the longest name. Defaults that CLI11 has are added to the descriptions.
class HelpFormatter : public CLI::Formatter {
 public:
  /// @param usage what follows the name of the program, a form each; empty: CLI11's own.
  /// @param others listed beside the app's commands.
  explicit HelpFormatter(std::vector<std::string> usage = {},
                         std::vector<OtherProgram> others = {});
  [[nodiscard]] std::string make_help(const CLI::App* app, std::string name,
                                      CLI::AppFormatMode mode) const override;

 private:
  std::vector<std::string> usage_;
  std::vector<OtherProgram> others_;
};

/// An app whose help fits 80 columns.
void prepare(CLI::App& app, const std::string& footer, std::vector<OtherProgram> others = {});

/// The forms in which a command is called, each what follows its name.
void set_usage(CLI::App& command, std::vector<std::string> forms);

/// Of an app, or of the verbs in a verb.
std::vector<std::string> verb_names(const CLI::App& app);

/// How a program of verbs differs from others.
struct ProgramRules {
  /// The exit code for a failure, where others than memduel read it.
  std::function<int(const CLI::App& app, ExitCode code)> code_of_failure =
      [](const CLI::App&, ExitCode code) { return static_cast<int>(code); };
  /// Whether arguments may be no text.
  std::function<bool(const CLI::App& app)> takes_any_bytes = [](const CLI::App&) { return false; };
  /// Runs what is no verb of the app and returns its exit code; absent: nobody does.
  std::function<int(const std::string& verb, char** argv)> run_other;
};

/// Parses and runs. Returns the exit code; what went wrong stands on standard error.
int run_program(CLI::App& app, const Action& action, int argc, char** argv,
                const ProgramRules& rules = {});

/// The words of the command line that run_program runs, the program first.
const std::vector<std::string>& given_words();

/// Says that `word` is no verb of the app, and returns the exit code of that.
int refuse_verb(const CLI::App& app, const std::string& word);

/// On standard error. No name of a file commands the terminal.
void print_failure(const std::string& message);

}  // namespace memduel::cli
