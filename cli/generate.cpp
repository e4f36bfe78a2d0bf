// memduel generate KIND: the manual page and completions that an installation brings. Not in
// --help.

#include "generate.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "cli/print.h"
#include "cli/program.h"
#include "cli/verbs.h"
#include "config/reference.h"

namespace memduel::cli {
namespace {

/// Those that --help lists.
std::vector<const CLI::App*> verbs_of(const CLI::App& app) {
  std::vector<const CLI::App*> verbs;
  for (const CLI::App* verb :
       app.get_subcommands([](const CLI::App* each) { return !each->get_group().empty(); }))
    verbs.push_back(verb);
  return verbs;
}

/// Options that are named, and of verbs in verbs the inner verbs' names beside them.
std::vector<const CLI::Option*> options_of(const CLI::App& verb) {
  std::vector<const CLI::Option*> options;
  for (const CLI::Option* option : verb.get_options())
    if (option->nonpositional() && !option->get_lnames().empty()) options.push_back(option);
  return options;
}

std::string replaced(std::string text, char from, const std::string& by) {
  std::string out;
  for (const char c : text) out += c == from ? by : std::string(1, c);
  return out;
}

/// Text of a line of roff.
std::string roff(const std::string& text) {
  const std::string escaped = replaced(replaced(text, '\\', "\\e"), '-', "\\-");
  const bool request = escaped.starts_with('.') || escaped.starts_with('\'');
  return request ? "\\&" + escaped : escaped;
}

/// Lines of a footer, each on its own.
std::string roff_lines(const std::string& text) {
  std::istringstream lines(wrapped_lines(text));
  std::string out = ".nf\n";
  for (std::string line; std::getline(lines, line);) out += roff(line) + "\n";
  return out + ".fi\n";
}

std::string in_quotes(const std::string& text) {
  return "'" + replaced(text, '\'', "'\\''") + "'";
}

/// The option whose values begin with a key of a config.
bool takes_key(const CLI::Option& option) {
  return option.check_lname("set");
}

std::string all_keys() {
  return fmt::format("{}", fmt::join(config_key_paths(), " "));
}

/// Of zsh's specifications, where brackets and colons have a meaning.
std::string zsh_text(const std::string& text) {
  std::string out = replaced(replaced(text, '[', "("), ']', ")");
  return replaced(out, ':', "\\:");
}

}  // namespace

std::string manual_page(const CLI::App& app) {
  std::string page = fmt::format(
      ".TH MEMDUEL 1\n.SH NAME\nmemduel \\- {}\n.SH SYNOPSIS\n.B memduel\n.I COMMAND\n"
      "[\\fIOPTION\\fR ...]\n.SH COMMANDS\n",
      roff(app.get_description()));
  for (const CLI::App* verb : verbs_of(app)) {
    page += fmt::format(".SS {}\n{}\n", verb->get_name(), roff(verb->get_description()));
    for (const CLI::Option* option : verb->get_options())
      page += fmt::format(
          ".TP\n.B {}\n{}\n",
          roff(option->nonpositional() ? option->get_name(false, true) : option->get_name(true)),
          roff(replaced(option->get_description(), '\n', " ")));
    for (const CLI::App* inner : verb->get_subcommands(nullptr))
      page +=
          fmt::format(".TP\n.B {}\n{}\n", roff(inner->get_name()), roff(inner->get_description()));
    if (!verb->get_footer().empty()) page += ".PP\n" + roff_lines(verb->get_footer());
  }
  for (const OtherProgram& other : other_programs())
    page += fmt::format(".SS {}\n{}\n", roff(other.name), roff(other.description));
  return page + ".SH EXAMPLES AND EXIT CODES\n" + roff_lines(app.get_footer());
}

std::string bash_completion(const CLI::App& app) {
  std::vector<std::string> names;
  std::string cases;
  for (const CLI::App* verb : verbs_of(app)) {
    names.push_back(verb->get_name());
    std::vector<std::string> words = verb_names(*verb);
    for (const CLI::Option* option : options_of(*verb))
      words.push_back("--" + option->get_lnames().front());
    cases += fmt::format("    {}) words='{}' ;;\n", verb->get_name(), fmt::join(words, " "));
  }
  for (const OtherProgram& other : other_programs()) names.push_back(other.name);
  return fmt::format(
      R"(# bash completion of memduel
_memduel() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} words=
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W '{} --help --version' -- "$current"))
    return
  fi
  if [ "${{COMP_WORDS[COMP_CWORD-1]}}" = --set ]; then
    compopt -o nospace
    COMPREPLY=($(compgen -S = -W '{}' -- "$current"))
    return
  fi
  case ${{COMP_WORDS[1]}} in
{}  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}}
complete -o default -F _memduel memduel
)",
      fmt::join(names, " "), all_keys(), cases);
}

std::string zsh_completion(const CLI::App& app) {
  std::string names;
  std::string cases;
  for (const CLI::App* verb : verbs_of(app)) {
    names += fmt::format("    {}\n",
                         in_quotes(verb->get_name() + ":" + zsh_text(verb->get_description())));
    cases += fmt::format("    {})\n      _arguments '*:file:_files'", verb->get_name());
    for (const CLI::Option* option : options_of(*verb))
      cases += fmt::format(
          " \\\n        {}",
          in_quotes(fmt::format("--{}[{}]{}", option->get_lnames().front(),
                                zsh_text(replaced(option->get_description(), '\n', " ")),
                                takes_key(*option) ? ":key:{compadd -S= -a keys}" : "")));
    cases += " ;;\n";
  }
  for (const OtherProgram& other : other_programs())
    names += fmt::format("    {}\n", in_quotes(other.name + ":" + zsh_text(other.description)));
  return fmt::format(
      R"(#compdef memduel
local -a verbs keys
keys=({})
if (( CURRENT == 2 )); then
  verbs=(
{}  )
  _describe command verbs
else
  case $words[2] in
{}  esac
fi
)",
      all_keys(), names, cases);
}

std::string fish_completion(const CLI::App& app) {
  std::string text = fmt::format(
      "# fish completion of memduel\nfunction __memduel_keys\n  printf '%s=\\n' {}\nend\n",
      all_keys());
  for (const CLI::App* verb : verbs_of(app)) {
    text += fmt::format("complete -c memduel -n __fish_use_subcommand -f -a {} -d {}\n",
                        verb->get_name(), in_quotes(verb->get_description()));
    for (const CLI::Option* option : options_of(*verb))
      text += fmt::format("complete -c memduel -n '__fish_seen_subcommand_from {}' -l {}{} -d {}\n",
                          verb->get_name(), option->get_lnames().front(),
                          takes_key(*option) ? " -x -a '(__memduel_keys)'" : "",
                          in_quotes(replaced(option->get_description(), '\n', " ")));
  }
  for (const OtherProgram& other : other_programs())
    text += fmt::format("complete -c memduel -n __fish_use_subcommand -f -a {} -d {}\n", other.name,
                        in_quotes(other.description));
  return text;
}

void add_generate(CLI::App& app, Action& action) {
  auto kind = std::make_shared<std::string>();
  CLI::App* verb = app.add_subcommand("generate", "print the manual page or a shell completion");
  verb->group("");
  verb->footer("Example:\n  memduel generate bash");
  verb->add_option("KIND", *kind, "manual, bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"manual", "bash", "zsh", "fish"}));
  verb->callback([kind, &app, &action] {
    action = [kind, &app] {
      print(*kind == "manual" ? manual_page(app)
            : *kind == "bash" ? bash_completion(app)
            : *kind == "zsh"  ? zsh_completion(app)
                              : fish_completion(app));
      return 0;
    };
  });
}

}  // namespace memduel::cli
