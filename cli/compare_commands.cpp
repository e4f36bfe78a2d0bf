#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <set>
#include <sstream>

#include "command_names.h"
#include "compare.h"
#include "duel.h"
#include "model/keys.h"
#include "model/metric_catalogue.h"
#include "run/run.h"
#include "util/command_line.h"
#include "util/error.h"
#include "util/process.h"

namespace memduel::cli {
namespace {

constexpr int kStatuses = 256;

struct Parameter {
  std::string name;
  std::vector<std::string> values;
  const char* option;  ///< that gave it
};

/// 0 and those of a list such as "1,2".
std::vector<int> good_statuses(const std::string& text) {
  std::set<int> statuses = {0};
  const bool is_all = text == kAllStatuses || text == "all-non-zero";
  if (is_all)
    for (int status = 1; status < kStatuses; ++status) statuses.insert(status);
  std::istringstream list(is_all ? "" : text + ",");
  for (std::string word; std::getline(list, word, ',');) {
    int status = -1;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), status);
    const bool is_number = error == std::errc() && end == word.data() + word.size();
    if (!is_number || status < 0 || status >= kStatuses)
      throw Error(ExitCode::usage,
                  fmt::format("expected exit statuses from 0 to 255, found \"{}\"", text),
                  "--ignore-failure", "for example --ignore-failure=1,2");
    statuses.insert(status);
  }
  return {statuses.begin(), statuses.end()};
}

CommandLine command_of(const std::string& text, const std::vector<std::string>& shell) {
  return shell.empty() ? split_typed_command(text) : CommandLine{{}, in_shell(shell, text)};
}

void check_name_of_parameter(const std::string& name, const char* option) {
  const bool is_word = !name.empty() && std::ranges::all_of(name, [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '-';
  });
  if (!is_word)
    throw Error(ExitCode::usage,
                fmt::format("expected a name in letters, digits, _ and -, found \"{}\"", name),
                option);
  if (name == "seed" || name == "trial_dir" || name == "block")
    throw Error(ExitCode::usage,
                fmt::format("expected another name, because memduel replaces {{{}}} itself", name),
                option);
}

/// Separated by commas; "\," is a comma of a value.
std::vector<std::string> values_in(const std::string& list) {
  std::vector<std::string> values(1);
  for (std::size_t i = 0; i < list.size(); ++i) {
    const bool is_escaped =
        list[i] == '\\' && i + 1 < list.size() && (list[i + 1] == ',' || list[i + 1] == '\\');
    if (is_escaped)
      values.back() += list[++i];
    else if (list[i] == ',')
      values.emplace_back();
    else
      values.back() += list[i];
  }
  return values;
}

Parameter parameter_of_list(const std::pair<std::string, std::string>& list) {
  constexpr const char* kOption = "--parameter-list";
  check_name_of_parameter(list.first, kOption);
  Parameter parameter{list.first, values_in(list.second), kOption};
  if (std::ranges::any_of(parameter.values, &std::string::empty))
    throw Error(ExitCode::usage, fmt::format("found an empty value in \"{}\"", list.second),
                kOption, "for example -L threads 1,2,4");
  std::vector<std::string> sorted = parameter.values;
  std::ranges::sort(sorted);
  if (const auto twice = std::ranges::adjacent_find(sorted); twice != sorted.end())
    throw Error(ExitCode::usage, fmt::format("found the value {} twice", *twice), kOption);
  return parameter;
}

/// A decimal number as whole units of its last digit.
struct Decimal {
  std::int64_t units = 0;
  int digits = 0;  ///< after the point

  [[nodiscard]] std::int64_t at(int finer) const {
    std::int64_t scaled = units;
    for (int i = digits; i < finer; ++i) scaled *= 10;
    return scaled;
  }
};

Decimal decimal_in(const std::string& text, const char* option) {
  constexpr std::size_t kMostDigits = 9;
  const std::size_t point = std::min(text.find('.'), text.size());
  const std::string fraction = point == text.size() ? "" : text.substr(point + 1);
  const std::string whole = text.substr(0, point) + fraction;
  Decimal decimal{0, static_cast<int>(fraction.size())};
  const char* const end = whole.data() + whole.size();
  const char* const begin = whole.data() + (whole.starts_with('+') ? 1 : 0);
  const auto [rest, error] = std::from_chars(begin, end, decimal.units);
  if (whole.empty() || error != std::errc() || rest != end || whole.size() > kMostDigits)
    throw Error(
        ExitCode::usage,
        fmt::format("expected a number of at most {} digits, found \"{}\"", kMostDigits, text),
        option);
  return decimal;
}

Parameter parameter_of_scan(const std::vector<std::string>& scan,
                            const std::optional<std::string>& step) {
  constexpr const char* kOption = "--parameter-scan";
  constexpr const char* kStep = "--parameter-step-size";
  check_scan(scan);
  check_name_of_parameter(scan[0], kOption);
  const Decimal from = decimal_in(scan[1], kOption);
  const Decimal to = decimal_in(scan[2], kOption);
  if (!step && (from.digits > 0 || to.digits > 0))
    throw Error(ExitCode::usage, "expected a step for a scan of decimal numbers, found none",
                kOption, "add -D DELTA");
  const Decimal delta = step ? decimal_in(*step, kStep) : Decimal{1, 0};
  const int digits = std::max({from.digits, to.digits, delta.digits});
  const std::int64_t by = delta.at(digits);
  if (by <= 0)
    throw Error(ExitCode::usage, fmt::format("expected a step above 0, found {}", *step), kStep);
  if (to.at(digits) < from.at(digits))
    throw Error(ExitCode::usage,
                fmt::format("expected MIN MAX in ascending order, found {} {}", scan[1], scan[2]),
                kOption);
  const std::int64_t count = (to.at(digits) - from.at(digits)) / by + 1;
  if (count > static_cast<std::int64_t>(kMostVariants))
    throw Error(ExitCode::usage,
                fmt::format("expected at most {} values, found {}", kMostVariants, count), kOption,
                "choose a larger step with -D DELTA");
  Parameter parameter{scan[0], {}, kOption};
  const double unit = std::pow(10.0, -digits);
  for (std::int64_t value = from.at(digits); value <= to.at(digits); value += by)
    parameter.values.push_back(fmt::format("{:.{}f}", static_cast<double>(value) * unit, digits));
  return parameter;
}

std::vector<Parameter> parameters_of(const ComparedCommands& commands) {
  std::vector<Parameter> parameters;
  for (const auto& list : commands.lists) parameters.push_back(parameter_of_list(list));
  if (!commands.scan.empty()) parameters.push_back(parameter_of_scan(commands.scan, commands.step));
  std::size_t all = commands.commands.size();
  for (const Parameter& parameter : parameters) {
    const bool is_twice = std::ranges::count(parameters, parameter.name, &Parameter::name) > 1;
    if (is_twice)
      throw Error(ExitCode::usage, fmt::format("found the parameter {} twice", parameter.name),
                  "--parameter-list");
    all *= parameter.values.size();
    if (all > kMostVariants)
      throw Error(ExitCode::usage,
                  fmt::format("expected at most {} variants, found {} or more", kMostVariants, all),
                  "--parameter-list");
  }
  return parameters;
}

/// How often it was there.
int replace_all(std::string& text, const std::string& place, const std::string& value) {
  int count = 0;
  for (std::size_t at = 0; (at = text.find(place, at)) != std::string::npos; at += value.size()) {
    text.replace(at, place.size(), value);
    ++count;
  }
  return count;
}

/// The commands with one value each of {NAME}, the first value's commands first.
std::vector<NamedCommand> with_values(const std::vector<NamedCommand>& commands,
                                      const Parameter& parameter) {
  const std::string place = "{" + parameter.name + "}";
  std::vector<NamedCommand> all;
  for (const std::string& value : parameter.values)
    for (const NamedCommand& command : commands) {
      NamedCommand one = command;
      one.parameters[parameter.name] = value;
      int used = 0;
      for (std::string* text :
           {&one.text, &one.env, &one.prepare, &one.conclude, &one.setup, &one.cleanup})
        used += replace_all(*text, place, value);
      if (used == 0)
        throw Error(ExitCode::usage,
                    fmt::format("expected {} in '{}', found none", place, command.text),
                    parameter.option);
      all.push_back(std::move(one));
    }
  return all;
}

/// Adds the parameters in alphabetical order, in which hyperfine exports them.
void add_parameters_to_name(NamedCommand& command, bool is_named) {
  for (const auto& [name, value] : command.parameters) {
    if (is_named && replace_all(command.name, "{" + name + "}", value) > 0) continue;
    command.name += (command.name.empty() ? "" : "-") + name + "-";
    for (const char c : value)
      command.name += std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' ? c : '_';
  }
}

/// Of options that are given once for all commands, or once for each.
std::string value_for(const std::vector<std::string>& values, std::size_t command,
                      std::size_t commands, const char* option) {
  if (values.empty()) return {};
  if (values.size() != 1 && values.size() != commands)
    throw Error(ExitCode::usage,
                fmt::format("expected one for all commands, or {} for {} commands, found {}",
                            commands, commands, values.size()),
                option);
  return values.size() == 1 ? values.front() : values[command];
}

/// Variants that have no name are called after the word in which they differ, else a, b, c and so
/// on; one without another is "command".
std::vector<NamedCommand> named(const ComparedCommands& commands) {
  constexpr std::size_t kLetters = 26;
  const std::size_t count = commands.commands.size();
  const bool is_scan = !commands.lists.empty() || !commands.scan.empty();
  const std::vector<std::string> differing = commands.are_lettered || is_scan
                                                 ? std::vector<std::string>()
                                                 : names_after_difference(commands.commands);
  std::vector<NamedCommand> all;
  for (std::size_t i = 0; i < count; ++i) {
    NamedCommand one;
    one.name = count > 1 ? std::string(1, static_cast<char>('a' + i % kLetters))
               : is_scan ? ""
                         : kCommand;
    if (!differing.empty()) one.name = differing[i];
    if (i < commands.names.size()) one.name = commands.names[i];
    one.text = commands.commands[i];
    one.env = value_for(commands.env, i, count, "--env");
    one.prepare = value_for(commands.prepare, i, count, "--prepare");
    one.conclude = value_for(commands.conclude, i, count, "--conclude");
    one.setup = commands.setup.value_or("");
    one.cleanup = commands.cleanup.value_or("");
    all.push_back(std::move(one));
  }
  return all;
}

Environment environment_in(const std::string& assignments) {
  if (assignments.find_first_not_of(" \t\n") == std::string::npos) return {};
  constexpr const char* kOption = "--env";
  constexpr const char* kExample = "for example --env 'OMP_NUM_THREADS=8'";
  CommandLine line;
  try {
    line = split_command_line(assignments + " :");
  } catch (const Error& error) {
    throw Error(ExitCode::usage, error.what(), fmt::format("{} {}", kOption, assignments),
                kExample);
  }
  if (line.argv.size() != 1)
    throw Error(ExitCode::usage,
                fmt::format("expected NAME=VALUE, found \"{}\"", line.argv.front()), kOption,
                kExample);
  return {line.env.begin(), line.env.end()};
}

/// hyperfine's variable, and ours, where a command asks for it: the number of the trial, from 1 on;
/// 0 in warm-up trials. In every program's environment it would change how much memory it needs.
void add_iteration(Environment& env, const NamedCommand& command) {
  for (const char* variable : {"HYPERFINE_ITERATION", "MEMDUEL_ITERATION"}) {
    const auto names_it = [&](const std::string& text) {
      return text.find(variable) != std::string::npos;
    };
    if (names_it(command.text) || names_it(command.prepare) || names_it(command.conclude))
      env.emplace(variable, "{block}");
  }
}

/// Rounds from what a command prints, or from the files that it logs to.
std::vector<TextMarkSpec> marks_of(const ComparedCommands& commands) {
  check_round_pattern(commands.round_pattern, !commands.logs.empty());
  if (!commands.round_pattern) return {};
  using From = TextMarkSpec::From;
  const auto mark = [&](From from, const std::filesystem::path& file) {
    return TextMarkSpec{kCommand, from, file, *commands.round_pattern};
  };
  if (commands.logs.empty())
    return {mark(From::standard_output, {}), mark(From::standard_error, {})};
  std::vector<TextMarkSpec> marks;
  for (const std::string& log : commands.logs)
    marks.push_back(mark(From::file, log.starts_with("{trial_dir}") ? std::filesystem::path(log)
                                                                    : current_directory() / log));
  return marks;
}

void check_names(const std::vector<NamedCommand>& commands) {
  constexpr const char* kOption = "--command-name";
  std::set<std::string> seen;
  for (const NamedCommand& one : commands) {
    if (!is_variant_name(one.name))
      throw Error(ExitCode::usage,
                  fmt::format("expected a name of at most {} letters, digits and . _ + - that "
                              "begins with a letter or digit, found \"{}\"",
                              kLongestVariantName, one.name),
                  kOption);
    if (!seen.insert(one.name).second)
      throw Error(ExitCode::usage, fmt::format("found the name \"{}\" twice", one.name), kOption,
                  "give each command another name: -n NAME");
  }
}

/// Of `document`, made of `commands`.
void refuse_equal_commands(const std::vector<NamedCommand>& commands, const Document& document) {
  const auto& all = document.variants;
  const auto argv_of = [&](const Variant& variant) {
    return variant.argv.empty() ? document.workload.job.processes[0].argv
                                : variant.argv.at(kCommand);
  };
  for (std::size_t b = 0; b < all.size(); ++b)
    for (std::size_t a = 0; a < b; ++a) {
      const bool is_same = argv_of(all[a]) == argv_of(all[b]) && all[a].env == all[b].env &&
                           all[a].prepare == all[b].prepare && all[a].cleanup == all[b].cleanup;
      if (is_same && !all[b].twin_of)
        throw Error(ExitCode::usage,
                    fmt::format("expected different commands, found '{}' as {} and as {}",
                                commands[b].text, commands[a].name, commands[b].name),
                    "compare", "change one of them, or measure the noise with --calibrate");
    }
}

/// A word that no program has as its name, behind one that is a program: the shell has split a
/// command with an argument.
void refuse_split_command(const ComparedCommands& commands) {
  if (!commands.shell.empty()) return;
  const auto is_found = [](const std::string& word) {
    return resolve_program(word, current_directory(), own_path()).has_value();
  };
  const auto is_word = [](const std::string& word) {
    return word.find_first_of(" \t\n{}='\"\\") == std::string::npos && !word.empty();
  };
  const std::vector<std::string>& words = commands.commands;
  for (std::size_t i = 1; i < words.size(); ++i)
    if (is_word(words[i - 1]) && is_word(words[i]) && is_found(words[i - 1]) && !is_found(words[i]))
      throw Error(ExitCode::usage,
                  fmt::format("expected a command, found \"{}\", which is the name of no program",
                              words[i]),
                  "compare",
                  fmt::format("quote a command with its arguments: memduel compare '{} {}' ...",
                              words[i - 1], words[i]));
}

}  // namespace

void check_lists(const std::vector<std::pair<std::string, std::string>>& lists) {
  for (const auto& [name, values] : lists)
    if (const std::size_t sign = name.find('='); sign != std::string::npos)
      throw Error(
          ExitCode::usage, fmt::format("expected VAR VALUES, found \"{}\"", name),
          "--parameter-list",
          fmt::format("give two words: -L {} {}", name.substr(0, sign), name.substr(sign + 1)));
}

void check_scan(const std::vector<std::string>& scan) {
  constexpr const char* kOption = "--parameter-scan";
  constexpr std::size_t kWords = 3;
  if (scan.empty()) return;
  if (const std::size_t sign = scan.front().find('='); sign != std::string::npos)
    throw Error(ExitCode::usage, fmt::format("expected VAR MIN MAX, found \"{}\"", scan.front()),
                kOption,
                fmt::format("a list of values is -L {} {}", scan.front().substr(0, sign),
                            scan.front().substr(sign + 1)));
  if (scan.size() != kWords)
    throw Error(ExitCode::usage, fmt::format("expected VAR MIN MAX, found {} words", scan.size()),
                kOption, "for example -P threads 1 8");
  // A command in the place of MAX, which would seem to be absent.
  decimal_in(scan[1], kOption);
  decimal_in(scan[2], kOption);
}

std::vector<std::string> shell_named(const std::string& name) {
  if (name == "none") return {};
  std::vector<std::string> shell =
      name == "default" ? std::vector<std::string>{"/bin/sh"} : split_command_line(name).argv;
  shell.emplace_back("-c");
  return shell;
}

std::vector<std::string> in_shell(std::vector<std::string> shell, const std::string& text) {
  if (shell.empty()) shell = shell_named("default");
  shell.push_back(text);
  return shell;
}

std::vector<NamedCommand> named_commands(const ComparedCommands& commands) {
  if (commands.step && commands.scan.empty())
    throw Error(ExitCode::usage, "expected --parameter-scan beside it, found none",
                "--parameter-step-size");
  if (!commands.scan.empty() && !commands.lists.empty())
    throw Error(ExitCode::usage, "expected --parameter-scan or --parameter-list, found both",
                "compare");
  const std::vector<Parameter> parameters = parameters_of(commands);
  std::vector<NamedCommand> all = named(commands);
  const bool is_named = commands.names.size() == commands.commands.size();
  for (const Parameter& parameter : parameters) all = with_values(all, parameter);
  for (NamedCommand& one : all) add_parameters_to_name(one, is_named);
  if (!is_named && commands.names.size() > commands.commands.size()) {
    if (commands.names.size() > all.size())
      throw Error(ExitCode::usage,
                  fmt::format("expected a name for each of {} commands, found {}", all.size(),
                              commands.names.size()),
                  "--command-name");
    for (std::size_t i = 0; i < commands.names.size(); ++i) all[i].name = commands.names[i];
  }
  for (NamedCommand& one : all) std::ranges::replace(one.name, ' ', '_');  // no variant has blanks
  check_names(all);
  return all;
}

Document document_of(const ComparedCommands& commands) {
  refuse_split_command(commands);
  const std::vector<NamedCommand> all = named_commands(commands);
  const CommandLine first = command_of(all.front().text, commands.shell);
  Document document = document_of_program(all.size() == 1 ? "measure" : "compare", first.argv,
                                          current_directory().string());
  document.baseline = all.front().name;
  if (all.size() == 1) document.measure.repeats = kTrialsOfOne;
  for (const NamedCommand& one : all) {
    const CommandLine command = command_of(one.text, commands.shell);
    Variant& variant = document.variants.emplace_back();
    variant.name = one.name;
    variant.env.insert(command.env.begin(), command.env.end());
    variant.env.merge(environment_in(one.env));
    variant.parameters = one.parameters;
    add_iteration(variant.env, one);
    if (&one != &all.front()) variant.argv[kCommand] = command.argv;
    if (!one.prepare.empty()) variant.prepare = {in_shell(commands.shell, one.prepare)};
    if (!one.conclude.empty()) variant.cleanup = {in_shell(commands.shell, one.conclude)};
  }
  if (commands.calibrate) document.variants.back().twin_of = all.front().name;
  refuse_equal_commands(all, document);
  Job& job = document.workload.job;
  if (!commands.ignored_statuses.empty())
    job.processes[0].exit_statuses = good_statuses(commands.ignored_statuses);
  job.marks = marks_of(commands);
  return document;
}

}  // namespace memduel::cli
