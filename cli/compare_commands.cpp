#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <set>
#include <sstream>

#include "compare.h"
#include "duel.h"
#include "model/metric_catalogue.h"
#include "run/run.h"
#include "util/command_line.h"
#include "util/error.h"

namespace memduel::cli {
namespace {

constexpr int kStatuses = 256;

struct NamedCommand {
  std::string name;
  std::string text;
};

struct Parameter {
  std::string name;
  std::vector<std::string> values;
};

/// 0 and those of a list such as "1,2".
std::vector<int> good_statuses(const std::string& text) {
  std::set<int> statuses = {0};
  if (text == kAllStatuses)
    for (int status = 1; status < kStatuses; ++status) statuses.insert(status);
  std::istringstream list(text == kAllStatuses ? "" : text + ",");
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

CommandLine command_of(const std::string& text, bool shell) {
  if (shell) return {{}, {"/bin/sh", "-c", text}};
  return split_typed_command(text);
}

/// What runs before a trial has no environment of its own.
std::vector<std::string> argv_of(const std::string& text, bool shell) {
  const CommandLine command = command_of(text, shell);
  if (command.env.empty()) return command.argv;
  std::vector<std::string> argv = {"/usr/bin/env"};
  for (const auto& [name, value] : command.env) argv.push_back(name + "=" + value);
  argv.insert(argv.end(), command.argv.begin(), command.argv.end());
  return argv;
}

Parameter parameter_from(const std::string& text) {
  constexpr const char* kOption = "--parameter-scan";
  const std::size_t sign = text.find('=');
  Parameter parameter{text.substr(0, sign), {}};
  const bool word =
      !parameter.name.empty() && std::ranges::all_of(parameter.name, [](unsigned char c) {
        return std::isalnum(c) != 0 || c == '_';
      });
  if (sign == std::string::npos || !word)
    throw Error(ExitCode::usage, fmt::format("expected NAME=VALUE,VALUE, found \"{}\"", text),
                kOption, "for example --parameter-scan threads=1,2,4");
  if (parameter.name == "seed" || parameter.name == "trial_dir")
    throw Error(ExitCode::usage,
                fmt::format("expected another name, because memduel replaces {{{}}} itself",
                            parameter.name),
                kOption);
  std::istringstream values(text.substr(sign + 1));
  for (std::string value; std::getline(values, value, ',');) parameter.values.push_back(value);
  const bool empty = std::ranges::any_of(parameter.values, &std::string::empty);
  if (parameter.values.empty() || empty || text.ends_with(','))
    throw Error(ExitCode::usage, fmt::format("found an empty value in \"{}\"", text), kOption);
  return parameter;
}

/// The commands with one value each of {NAME}, the first value's commands first.
std::vector<NamedCommand> scanned(const std::vector<NamedCommand>& commands,
                                  const Parameter& parameter) {
  const std::string place = "{" + parameter.name + "}";
  std::vector<NamedCommand> all;
  for (const NamedCommand& command : commands) {
    if (command.text.find(place) == std::string::npos)
      throw Error(ExitCode::usage,
                  fmt::format("expected {} in the command of --a, found none", place),
                  "--parameter-scan");
    for (const std::string& value : parameter.values) {
      NamedCommand one{command.name + (command.name.empty() ? "" : "-") + parameter.name + "-",
                       command.text};
      for (const char c : value)
        one.name += std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' ? c : '_';
      for (std::size_t at = 0; (at = one.text.find(place, at)) != std::string::npos;
           at += value.size())
        one.text.replace(at, place.size(), value);
      all.push_back(std::move(one));
    }
  }
  return all;
}

/// Arms are a, b, c and so on, unless they have names.
std::vector<NamedCommand> lettered(const ComparedCommands& commands) {
  std::vector<NamedCommand> all = {{"a", commands.baseline}};
  for (const std::string& candidate : commands.candidates)
    all.push_back({std::string(1, static_cast<char>('a' + all.size() % 26)), candidate});
  return all;
}

std::vector<NamedCommand> all_of(const ComparedCommands& commands) {
  std::vector<NamedCommand> all;
  if (commands.scans.empty()) {
    all = lettered(commands);
  } else {
    all = {{"", commands.baseline}};
    for (const std::string& scan : commands.scans) all = scanned(all, parameter_from(scan));
  }
  if (commands.names.size() > all.size())
    throw Error(ExitCode::usage,
                fmt::format("expected a name for each of {1} commands, found {0}",
                            commands.names.size(), all.size()),
                "--name");
  for (std::size_t i = 0; i < commands.names.size(); ++i) all[i].name = commands.names[i];
  return all;
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

}  // namespace

Document document_of(const ComparedCommands& commands) {
  const std::vector<NamedCommand> all = all_of(commands);
  const CommandLine first = command_of(all.front().text, commands.shell);
  Document document = document_of_program("compare", first.argv, current_directory().string());
  document.baseline = all.front().name;
  for (const NamedCommand& one : all) {
    const CommandLine command = command_of(one.text, commands.shell);
    Variant& variant = document.variants.emplace_back();
    variant.name = one.name;
    variant.env.insert(command.env.begin(), command.env.end());
    if (&one != &all.front()) variant.argv[kCommand] = command.argv;
  }
  if (commands.calibrate) document.variants.back().twin_of = all.front().name;
  Job& job = document.workload.job;
  if (!commands.ignored_statuses.empty())
    job.processes[0].exit_statuses = good_statuses(commands.ignored_statuses);
  job.marks = marks_of(commands);
  for (const std::string& command : commands.prepare)
    job.prepare.push_back(argv_of(command, commands.shell));
  return document;
}

}  // namespace memduel::cli
