#include "cli/program.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <memory>
#include <new>
#include <optional>
#include <regex>
#include <sstream>
#include <string_view>

#include "cli/print.h"
#include "foreign_tools.h"
#include "model/removed.h"
#include "util/command_line.h"
#include "util/error.h"
#include "util/process.h"
#include "util/text.h"
#include "verdict/hyperfine_json.h"

namespace memduel::cli {
namespace {

constexpr std::size_t kWidth = 80;
constexpr std::size_t kIndent = 2;
constexpr std::size_t kGap = 2;
constexpr std::size_t kWidestName = 29;    ///< a longer one has a line of its own
constexpr std::size_t kMostUngrouped = 7;  ///< options that need no groups
constexpr const char* kGroupOfHelp = "Options";

struct HelpLine {
  std::string name;
  std::string text;
};

/// A group's lines below its title.
struct HelpGroup {
  std::string title;
  std::vector<HelpLine> lines;
};

HelpGroup& group_titled(std::vector<HelpGroup>& groups, const std::string& title) {
  const auto found = std::ranges::find(groups, title, &HelpGroup::title);
  if (found != groups.end()) return *found;
  groups.push_back({title, {}});
  return groups.back();
}

/// "-o, --output FILE", without what CLI11 adds of checks, defaults and other options.
std::string name_of(const CLI::Option& option) {
  if (option.get_positional() && !option.nonpositional()) return option.get_name(true);
  // Of several long names, which are those of other programs, the first.
  std::string name;
  for (const std::string& letter : option.get_snames())
    name += (name.empty() ? "-" : ", -") + letter;
  if (!option.get_lnames().empty())
    name += (name.empty() ? "--" : ", --") + option.get_lnames().front();
  const std::string& text = option.get_option_text();
  if (!text.empty()) return name + (text.starts_with('[') ? "" : " ") + text;
  if (option.get_type_size() == 0 || option.get_expected_max() == 0) return name;
  const std::string type = option.get_type_name();
  return type.empty() ? name : name + " " + type.substr(0, type.find(':'));
}

std::string text_of(const CLI::Option& option) {
  const std::string fallback = option.get_default_str();
  const std::string& text = option.get_description();
  return fallback.empty() ? text : fmt::format("{} (default: {})", text, fallback);
}

std::size_t count_lines(const std::vector<HelpGroup>& groups) {
  std::size_t lines = 0;
  for (const HelpGroup& group : groups) lines += group.lines.size();
  return lines;
}

std::vector<HelpGroup> options_in_groups(const CLI::App& app) {
  HelpGroup arguments{"Arguments", {}};
  std::vector<HelpGroup> groups;
  HelpGroup last{kGroupOfHelp, {}};
  for (const CLI::Option* option : app.get_options()) {
    const std::string& title = option->get_group();
    if (title.empty()) continue;
    HelpGroup& group = option->get_positional() ? arguments
                       : title == kGroupOfHelp  ? last
                                                : group_titled(groups, title);
    group.lines.push_back({name_of(*option), text_of(*option)});
  }
  if (count_lines(groups) <= kMostUngrouped) {
    for (HelpGroup& group : groups) {
      std::ranges::move(last.lines, std::back_inserter(group.lines));
      last.lines = std::move(group.lines);
    }
    groups.clear();
  }
  // Help and version are what CLI11 adds first and what people look for last.
  const auto is_of_options = [](const HelpLine& line) {
    return line.name != "-h, --help" && line.name != "--version";
  };
  std::ranges::stable_partition(last.lines, is_of_options);
  groups.insert(groups.begin(), std::move(arguments));
  groups.push_back(std::move(last));
  return groups;
}

std::string text_of(const std::vector<HelpGroup>& groups) {
  std::size_t widest = 0;
  for (const HelpGroup& group : groups)
    for (const HelpLine& line : group.lines)
      if (line.name.size() <= kWidestName) widest = std::max(widest, line.name.size());
  const std::size_t column = kIndent + widest + kGap;
  std::string text;
  for (const HelpGroup& group : groups) {
    if (group.lines.empty()) continue;
    text += fmt::format("\n{}:\n", group.title);
    for (const HelpLine& line : group.lines) {
      const std::string name = fmt::format("{:{}}{:<{}}", "", kIndent, line.name, widest);
      const bool is_long = line.name.size() > widest;
      if (is_long) text += name + "\n";
      text += wrapped_help(fmt::format("{:<{}}{}", is_long ? "" : name, column, line.text), column);
    }
  }
  return text;
}

std::string usage_text(const std::string& name, const std::vector<std::string>& forms) {
  std::string text;
  for (const std::string& form : forms)
    text += fmt::format("{}{} {}\n", text.empty() ? "Usage: " : "       ", name, form);
  return text;
}

/// As CLI11 has it, without its brackets around the only thing that is needed.
std::vector<std::string> usage_of(const CLI::App& app) {
  if (!app.get_subcommands(nullptr).empty())
    return app.get_parent() == nullptr
               ? std::vector<std::string>{"COMMAND [OPTIONS]", "help COMMAND"}
               : std::vector<std::string>{"COMMAND [OPTIONS]"};
  std::string form = "[OPTIONS]";
  for (const CLI::Option* option : app.get_options())
    if (option->get_positional()) {
      const bool repeats = option->get_expected_max() > 1;
      const std::string name = option->get_name(true) + (repeats ? "..." : "");
      form += option->get_required() ? " " + name : " [" + name + "]";
    }
  return {form};
}

}  // namespace

std::string wrapped_help(const std::string& line, std::size_t indent) {
  std::string rest = line;
  std::string out;
  while (rest.size() > kWidth) {
    const std::size_t cut = rest.rfind(' ', kWidth);
    if (cut == std::string::npos || cut <= indent) break;
    out += rest.substr(0, cut) + '\n';
    rest = std::string(indent, ' ') + rest.substr(cut + 1);
  }
  return out + rest + '\n';
}

std::string wrapped_lines(const std::string& text) {
  std::istringstream lines(text);
  std::string out;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t indent = line.find_first_not_of(' ');
    out += wrapped_help(line, indent == std::string::npos ? 0 : indent);
  }
  return out;
}

namespace {

const std::vector<OtherProgram> kNoOthers;

}  // namespace

HelpFormatter::HelpFormatter(std::vector<std::string> usage, std::vector<OtherProgram> others)
    : usage_(std::move(usage)), others_(std::move(others)) {}

std::string HelpFormatter::make_help(const CLI::App* app, std::string name,
                                     CLI::AppFormatMode /*mode*/) const {
  std::vector<HelpGroup> commands;
  for (const CLI::App* command : app->get_subcommands(nullptr))
    if (!command->get_group().empty())
      group_titled(commands, command->get_group())
          .lines.push_back({command->get_name(), command->get_description()});
  // Commands take over the formatter of their app.
  for (const OtherProgram& other : app->get_parent() == nullptr ? others_ : kNoOthers)
    group_titled(commands, other.group).lines.push_back({other.name, other.description});
  std::string text = app->get_description() + "\n\n" +
                     usage_text(name, usage_.empty() ? usage_of(*app) : usage_) +
                     text_of(commands) + text_of(options_in_groups(*app));
  if (!app->get_footer().empty()) text += "\n" + app->get_footer();
  return wrapped_lines(text);
}

namespace {

/// What goes into a config and from there into reports must be text.
void refuse_arguments_that_are_no_text(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (valid_utf8(argv[i]) == argv[i]) continue;
    throw Error(
        ExitCode::usage,
        fmt::format("found argument {}, \"{}\", which is not UTF-8", i, escape_terminal(argv[i])),
        "", "put it into a script, and name the script");
  }
}

/// One of several commands may have none.
bool is_given_for_each_command(const CLI::Option& option) {
  constexpr std::array<std::string_view, 3> kNames = {"--env", "--prepare", "--conclude"};
  return std::ranges::find(kNames, option.get_name()) != kNames.end();
}

/// "--env=" as "--env" and "": CLI11 would take the next word as the value.
std::vector<std::string> with_empty_values(int argc, char** argv) {
  std::vector<std::string> all;
  const char* const* const end = argv + argc;
  const char* const* const separator =
      std::find_if(argv, argv + argc, [](std::string_view word) { return word == "--"; });
  for (const char* const* word = argv; word != end; ++word) {
    const std::string_view text = *word;
    const bool is_empty = word < separator && text.starts_with("--") && text.ends_with('=') &&
                          std::ranges::count(text, '=') == 1;
    all.emplace_back(is_empty ? text.substr(0, text.size() - 1) : text);
    if (is_empty) all.emplace_back();
  }
  return all;
}

/// An empty name is a variable of a script that was never set, and no default.
void refuse_empty_names(const CLI::App& app) {
  for (const CLI::App* verb : app.get_subcommands()) {
    for (const CLI::Option* option : verb->get_options()) {
      // A command's arguments may be empty.
      const bool is_name = option->get_items_expected_max() == 1 || !option->get_positional();
      if (is_name && !is_given_for_each_command(*option) &&
          std::ranges::any_of(option->results(), &std::string::empty))
        throw Error(ExitCode::usage, "expected a value, found empty text", option->get_name());
    }
    refuse_empty_names(*verb);
  }
}

/// CLI11 would say that a verb is missing.
bool names_another_verb(const CLI::App& app, int argc, char** argv) {
  const auto verbs = verb_names(app);
  return argc > 1 && *argv[1] != '-' && std::ranges::find(verbs, argv[1]) == verbs.end();
}

/// --quiet=2 would be the same as --quiet. A flag with a text of its own in its help takes values.
void refuse_values_of_flags(CLI::App& app) {
  for (CLI::App* verb : app.get_subcommands(nullptr)) {
    for (CLI::Option* option : verb->get_options())
      if (option->get_expected_max() == 0 && option->get_option_text().empty())
        option->disable_flag_override();
    refuse_values_of_flags(*verb);
  }
}

std::vector<std::string>& words() {
  static std::vector<std::string> all;
  return all;
}

int run_verb(CLI::App& app, const Action& action, int argc, char** argv,
             const ProgramRules& rules) {
  const auto own_failure = [&](ExitCode code) { return rules.code_of_failure(app, code); };
  try {
    if (!rules.takes_any_bytes(app)) refuse_arguments_that_are_no_text(argc, argv);
    refuse_empty_names(app);
    return action();
  } catch (const Error& error) {
    print_failure(error.message());
    return own_failure(error.code());
  } catch (const std::filesystem::filesystem_error& error) {
    const std::string path = error.path1().string();
    print_failure(fmt::format("{}: {}", path.empty() ? "the current directory" : path,
                              error.code().message()));
    return own_failure(ExitCode::io);
  } catch (const std::bad_alloc&) {
    print_failure("out of memory, see ulimit -v and ulimit -d");
    return own_failure(ExitCode::io);
  } catch (const std::exception& error) {
    print_failure(error.what());
    return own_failure(ExitCode::io);
  }
}

/// "unknown option --repeat; did you mean --repeats?", of the first of the words that the command
/// does not take. CLI11 lists the "--" before a command among them, and ahead of the option.
std::string unknown_argument(const CLI::App& command, std::string_view listed) {
  constexpr std::string_view kSeparator = "-- ";
  if (listed.starts_with(kSeparator)) listed.remove_prefix(kSeparator.size());
  const std::string argument(listed.substr(0, listed.find_first_of(" =")));
  if (auto refusal = refusal_of_foreign_option(command.get_name(), argument))
    return *std::move(refusal);
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  const auto nearest =
      argument.starts_with("--") ? nearest_name(argument, names) : std::optional<std::string>();
  return fmt::format("unknown {} {}{}", argument.starts_with('-') ? "option" : "argument", argument,
                     nearest ? fmt::format("; did you mean {}?", *nearest) : "");
}

/// Of counts and numbers: "--name: 1 required NAME missing" and the like.
std::string in_plain_words(const std::string& text) {
  static const std::regex kMissing("(.+): ([0-9]+) required ([^: ]+).* missing");
  static const std::regex kTwice("(.+): At Most 1 required but received ([0-9]+)");
  static const std::regex kNumber("Could not convert: (\\S+) = (.*)");
  static const std::regex kRange("(\\S+): Value (.*) not in range (\\S+) to (\\S+)");
  static const std::regex kRequired("(\\S+) is required");
  std::smatch found;
  if (std::regex_match(text, found, kMissing))
    return found[3] == "..."
               ? fmt::format("{}: expected {} words, found fewer", found[1].str(), found[2].str())
               : fmt::format("{}: expected {}, found none", found[1].str(), found[3].str());
  if (std::regex_match(text, found, kTwice))
    return fmt::format("{}: expected it once, found it {} times", found[1].str(), found[2].str());
  if (std::regex_match(text, found, kRange))
    return fmt::format("{}: expected a number from {} to {}, found \"{}\"", found[1].str(),
                       found[3].str(), found[4].str(), found[2].str());
  if (std::regex_match(text, found, kRequired))
    return fmt::format("expected {}, found none", found[1].str());
  if (std::regex_match(text, found, kNumber)) {
    const std::string word = found[2];
    char* end = nullptr;
    std::strtod(word.c_str(), &end);
    const bool is_fraction = !word.empty() && *end == '\0';
    return fmt::format("{}: expected a {}number, found \"{}\"", found[1].str(),
                       is_fraction ? "whole " : "", word);
  }
  return text;
}

/// The name of the option that a word gives: "-r" of "-r10", "--runs" of "--runs=10".
std::string option_in(std::string_view word) {
  constexpr std::size_t kLetter = 2;
  return std::string(word.starts_with("--") ? word.substr(0, word.find('='))
                                            : word.substr(0, kLetter));
}

/// Of "memduel measure ls -l" and "memduel record ls -l": an option that the verb does not have,
/// behind a program.
std::optional<std::string> refusal_of_unquoted_command(const CLI::App& command) {
  const std::string verb = command.get_name();
  const bool is_word = verb == "compare" || verb == "measure";
  if (!is_word && verb != "record" && verb != "watch") return std::nullopt;
  std::vector<std::string> all = words();
  for (std::size_t i = 3; i < all.size() && all[i] != "--"; ++i) {
    const std::string& program = all[i - 1];
    const bool is_behind_program = all[i].starts_with('-') && !program.starts_with('-') &&
                                   resolve_program(program, ".", own_path()).has_value();
    if (!is_behind_program || command.get_option_no_throw(option_in(all[i])) != nullptr) continue;
    const std::string found =
        fmt::format("unknown option {} of memduel, behind the program {}", all[i], program);
    if (is_word)
      return fmt::format("{}\n  quote a command with its arguments: memduel {} {} ...", found, verb,
                         quoted_command_line({program + " " + all[i]}));
    all.insert(all.begin() + static_cast<std::ptrdiff_t>(i) - 1, "--");
    all.front() = "memduel";
    return fmt::format("{}\n  did you mean {}?", found, quoted_command_line(all));
  }
  return std::nullopt;
}

/// CLI11's words, but for those that do not help.
std::string words_of(const CLI::ParseError& error, const CLI::App& command) {
  const std::string text = error.what();
  const std::size_t at = text.find(" was given a disallowed flag override");
  if (at != std::string::npos) return fmt::format("--{} takes no value", text.substr(0, at));
  if (text.starts_with(" is required") || text.starts_with(": is required"))
    return "expected a command to run after --, found none";
  if (text == "A subcommand is required") return "expected a command, found none";
  constexpr std::string_view kOne = "The following argument was not expected: ";
  constexpr std::string_view kSeveral = "The following arguments were not expected: ";
  for (const std::string_view prefix : {kOne, kSeveral})
    if (text.starts_with(prefix)) return unknown_argument(command, text.substr(prefix.size()));
  return in_plain_words(text);
}

/// Advice for the first option or name among the arguments that an earlier version of `verb` had.
std::optional<std::string> replacement_of_option(const std::string& verb, int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    std::string_view word = argv[i];
    if (word == "--") break;
    word = word.substr(0, word.find('='));
    auto replacement = replacement_for(Removed::option, fmt::format("{} {}", verb, word));
    if (!replacement) replacement = replacement_for(Removed::option, word);
    if (replacement) return fmt::format("{}: {}", word, *replacement);
  }
  return std::nullopt;
}

/// Given instead of a verb, as to heaptrack and to GNU time.
bool is_path_of_program(const std::string& word) {
  return word.find('/') != std::string::npos && is_program(word);
}

/// What other programs call it.
bool is_name_of_compare(std::string_view word) {
  constexpr std::array kNames = {"bench", "benchmark", "duel", "cmp"};
  return std::ranges::find(kNames, word) != kNames.end();
}

/// The commands on a command line that has nothing else than options and their numbers: a word
/// with a blank, or a program. Empty if there is another word.
std::vector<std::string> commands_in_place_of_verb() {
  std::vector<std::string> commands;
  for (std::size_t i = 1; i < words().size(); ++i) {
    const std::string& word = words()[i];
    if (word.starts_with('-') || word.find_first_not_of("0123456789") == std::string::npos)
      continue;
    if (word.find(' ') == std::string::npos && !is_path_of_program(word)) return {};
    commands.push_back(word);
  }
  return commands;
}

/// Of "memduel -- ls -l".
std::optional<std::string> refusal_of_command_without_verb(const CLI::App& app) {
  constexpr std::size_t kFirst = 2;
  const auto verbs = verb_names(app);
  if (words().size() <= kFirst || std::ranges::find(verbs, "record") == verbs.end())
    return std::nullopt;
  const std::string command = quoted_command_line({words().begin() + kFirst, words().end()});
  return fmt::format(
      "expected a command of memduel before --, found none\n  did you mean memduel record -- {}, "
      "or "
      "memduel measure {}?",
      command, quoted_command_line({command}));
}

/// The refusal of an option that stands before its command, or before commands to compare.
std::optional<std::string> refusal_of_first_option(const CLI::App& app) {
  std::vector<std::string> corrected = words();
  if (corrected[1] == "--") return refusal_of_command_without_verb(app);
  const std::string option = option_in(corrected[1]);
  if (app.get_option_no_throw(option) != nullptr) return std::nullopt;
  const auto verbs = verb_names(app);
  const auto named = std::ranges::find_first_of(corrected, verbs);
  const std::string verb = named == corrected.end() ? "compare" : *named;
  if (std::ranges::find(verbs, verb) == verbs.end()) return std::nullopt;
  if (app.get_subcommand(verb)->get_option_no_throw(option) == nullptr) {
    const auto foreign = refusal_of_foreign_option(verb, option);
    if (foreign || named != corrected.end()) return foreign;
    return fmt::format("expected a command, found the option {}", option);
  }
  if (named != corrected.end()) corrected.erase(named);
  corrected.front() = app.get_name();
  corrected.insert(corrected.begin() + 1, verb);
  return fmt::format("expected a command, found the option {}\n  did you mean {}?", option,
                     quoted_command_line(corrected));
}

/// The refusal of an option in the place of a verb, or of the first option with one dash and
/// several letters, of which other programs have some: CLI11 would take -col for -c ol.
std::optional<std::string> refusal_before_parsing(const CLI::App& app, int argc, char** argv) {
  if (argc > 1 && *argv[1] == '-') {
    auto refusal = refusal_of_foreign_option(app.get_name(), argv[1]);
    return refusal ? refusal : refusal_of_first_option(app);
  }
  for (int i = 2; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--") break;
    const std::string_view option = word.substr(0, word.find('='));
    if (!is_one_dash_option(option)) continue;
    if (auto refusal = refusal_of_foreign_option(argv[1], option)) return refusal;
  }
  return std::nullopt;
}

}  // namespace

void prepare(CLI::App& app, const std::string& footer, std::vector<OtherProgram> others) {
  app.formatter(std::make_shared<HelpFormatter>(std::vector<std::string>(), std::move(others)));
  app.set_help_flag("-h,--help", "print this help");
  app.require_subcommand(1);
  app.footer(footer);
}

void set_usage(CLI::App& command, std::vector<std::string> forms) {
  command.formatter(std::make_shared<HelpFormatter>(std::move(forms)));
}

std::vector<std::string> verb_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* verb : app.get_subcommands(nullptr)) names.push_back(verb->get_name());
  return names;
}

const std::vector<std::string>& given_words() {
  return words();
}

int refuse_verb(const CLI::App& app, const std::string& word) {
  const auto verbs = verb_names(app);
  std::string advice = nearest_advice(word, verbs, "see " + app.get_name() + " --help");
  // The package memduel-fl has none of the commands that these name.
  if (std::ranges::find(verbs, "record") != verbs.end()) {
    if (const auto foreign = advice_for_foreign_command(word)) advice = *foreign;
    if (is_path_of_program(word))
      advice = fmt::format("did you mean memduel record -- {0}, or memduel measure {0}?",
                           quoted_command_line({word}));
    if (is_name_of_compare(word) && words().size() > 2)
      advice = fmt::format("did you mean memduel compare {}?",
                           quoted_command_line({words().begin() + 2, words().end()}));
    else if (is_hyperfine_file(word))
      advice = fmt::format("did you mean memduel compare {}?",
                           quoted_command_line({words().begin() + 1, words().end()}));
    else if (const auto commands = commands_in_place_of_verb(); commands.size() > 1)
      advice = fmt::format("did you mean memduel compare {}?", quoted_command_line(commands));
    else if (commands.size() == 1 && !is_path_of_program(word))
      advice = fmt::format("did you mean memduel measure {}?", quoted_command_line(commands));
  }
  if (const auto replacement = replacement_for(Removed::verb, word)) advice = *replacement;
  print_failure(fmt::format("expected a command, found \"{0}\"\n  {1}", word, advice));
  return static_cast<int>(ExitCode::usage);
}

void print_failure(const std::string& message) {
  const std::string text = fmt::format("memduel: {}\n", escape_terminal_lines(message));
  say(fitted_to(STDERR_FILENO, text));
}

int run_program(CLI::App& app, const Action& action, int argc, char** argv,
                const ProgramRules& rules) {
  if (argc > 1 && std::string_view(argv[1]) == "help") {  // as git help COMMAND
    std::string option = "--help";
    std::vector<char*> asked(argv, argv + argc);
    asked.erase(asked.begin() + 1);
    asked.push_back(option.data());
    asked.push_back(nullptr);
    return run_program(app, action, argc, asked.data(), rules);
  }
  words().assign(argv, argv + argc);
  refuse_values_of_flags(app);
  if (names_another_verb(app, argc, argv)) {
    // A program memduel-VERB of an older installation may still be there.
    const bool removed = replacement_for(Removed::verb, argv[1]).has_value();
    return rules.run_other && !removed ? rules.run_other(argv[1], argv) : refuse_verb(app, argv[1]);
  }
  if (const auto refusal = refusal_before_parsing(app, argc, argv)) {
    const bool has_advice = refusal->find('\n') != std::string::npos;
    print_failure(has_advice ? *refusal
                             : fmt::format("{}\n  see {} --help", *refusal, app.get_name()));
    return static_cast<int>(ExitCode::usage);
  }
  try {
    std::vector<std::string> given = with_empty_values(argc, argv);
    given.erase(given.begin());
    std::ranges::reverse(given);  // as CLI11 takes them
    app.parse(std::move(given));
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help and --version
    std::string called = app.get_name();
    for (const CLI::App* verb : app.get_subcommands()) called += " " + verb->get_name();
    const std::string last =
        app.get_subcommands().empty() ? "" : app.get_subcommands().back()->get_name();
    const bool is_unknown = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
    const auto unquoted = is_unknown && !app.get_subcommands().empty()
                              ? refusal_of_unquoted_command(*app.get_subcommands().back())
                              : std::nullopt;
    if (unquoted) {
      print_failure(*unquoted);
      return rules.code_of_failure(app, ExitCode::usage);
    }
    print_failure(fmt::format(
        "{}\n  {}",
        words_of(error, app.get_subcommands().empty() ? app : *app.get_subcommands().back()),
        replacement_of_option(last, argc, argv).value_or("see " + called + " --help")));
    return rules.code_of_failure(app, ExitCode::usage);
  }
  return run_verb(app, action, argc, argv, rules);
}

}  // namespace memduel::cli
