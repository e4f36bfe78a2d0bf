// Commands and options that people know from other programs and that memduel does not have.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace memduel::cli {

/// A command of another program, or the program itself.
struct ForeignCommand {
  std::string_view known;    ///< with its program: "memray stats"
  std::string_view instead;  ///< the command line of memduel that is nearest to it
  std::string_view note;     ///< how they differ; empty: they do not
};

/// An option of another program.
struct ForeignOption {
  std::string_view verbs;   ///< of memduel, separated by blanks, that people give it to
  std::string_view name;    ///< "--long", or "-long" of programs that have one dash
  std::string_view letter;  ///< empty: none
  std::string_view advice;  ///< what memduel has instead of it, or the reason why it has nothing
};

struct ForeignTool {
  std::string_view name;  ///< empty: memduel itself
  std::span<const ForeignCommand> commands;
  std::span<const ForeignOption> options;
};

/// Every program that memduel has advice for. Of two programs with one option the first counts.
std::span<const ForeignTool> foreign_tools();

/// "did you mean memduel summary PROFILE, for memray stats?", for a word that is no verb of memduel
/// and is a command of another program; absent of others.
std::optional<std::string> advice_for_foreign_command(std::string_view word);

/// "unknown option --native of memray; …", for an option that `verb` does not take and another
/// program has; absent of others. The verb "memduel" has the options before any verb.
std::optional<std::string> refusal_of_foreign_option(std::string_view verb,
                                                     std::string_view option);

/// Whether an option has several letters after one dash, which a parser would take for a cluster of
/// options of one letter: -col is -c ol.
bool is_one_dash_option(std::string_view option);

}  // namespace memduel::cli
