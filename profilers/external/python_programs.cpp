#include "external/python_programs.h"

#include <fmt/format.h>

#include <fstream>
#include <set>
#include <sstream>
#include <tuple>

#include "external/preloaded.h"
#include "util/command_line.h"
#include "util/error.h"
#include "util/process.h"

namespace memduel {
namespace {

namespace fs = std::filesystem;

bool is_python(const fs::path& program) {
  return program.filename().string().starts_with("python");
}

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

/// The words of a script's first line, after #!.
std::vector<std::string> interpreter_line_of(const fs::path& program) {
  std::ifstream script(program, std::ios::binary);
  std::string first = "  ";
  script.read(first.data(), 2);
  if (first != "#!") return {};
  std::string second;
  std::getline(script, first);
  std::getline(script, second);
  // pip writes this for a path that is long or has a space, which #! cannot have.
  constexpr std::string_view kExec = "'''exec' \"";
  if (second.starts_with(kExec))
    return {second.substr(kExec.size(), second.find('"', kExec.size()) - kExec.size())};
  return words_of(first);
}

/// `env` with its assignments omitted.
std::vector<std::string> without_env(std::vector<std::string> words) {
  if (words.empty() || fs::path(words.front()).filename() != "env") return words;
  std::size_t at = 1;
  while (at < words.size() && (words[at] == "-S" || words[at].find('=') != std::string::npos)) ++at;
  words.erase(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(at));
  return words;
}

std::string path_of(const PlacedCommand& command) {
  const std::string path = value_in(command.environment, "PATH");
  return path.empty() ? own_path() : path;
}

}  // namespace

std::optional<fs::path> interpreter_of(const PlacedCommand& command) {
  std::vector<std::string> words = without_env(command.argv);
  if (words.empty()) return std::nullopt;
  const auto program = resolve_program(words.front(), command.cwd, path_of(command));
  if (!program || is_python(words.front())) return program;
  words = without_env(interpreter_line_of(*program));
  if (words.empty() || !is_python(words.front())) return std::nullopt;
  return resolve_program(words.front(), command.cwd, path_of(command));
}

std::string command_to_install(const std::string& package, const std::string& interpreter) {
  return fmt::format("{} -m pip install {}", quoted_command_line({interpreter}), package);
}

void require_python_package(const TracerEntry& entry, std::span<const PlacedCommand> commands) {
  std::set<std::tuple<fs::path, std::string>> known;
  for (const PlacedCommand& command : commands) {
    const auto interpreter = interpreter_of(command);
    if (!interpreter)
      throw Error(ExitCode::usage,
                  fmt::format("{} records Python programs, found {}", entry.name,
                              quoted_command_line({command.argv.front()})),
                  command.name, "name the interpreter in the command, or use another profiler");
    if (!known.emplace(*interpreter, value_in(command.environment, "PYTHONPATH")).second) continue;
    HelperOptions options;
    options.environment.insert(command.environment.begin(), command.environment.end());
    options.environment["LD_PRELOAD"] = std::nullopt;
    options.directory = command.cwd;
    const HelperResult imported =
        run_helper({interpreter->string(), "-c", "import " + entry.package}, options);
    if (imported.stopped) throw own_stop_request().error("stopped by a signal");
    if (imported.exit_status == 0) continue;
    if (imported.timed_out)
      throw Error(ExitCode::cannot_measure,
                  fmt::format("{} did not import {} within {:g} s", interpreter->string(),
                              entry.package, *options.within_seconds),
                  command.name);
    const std::string why = without_line_end(imported.err);
    throw Error(ExitCode::cannot_measure,
                fmt::format("{} does not have {}: {}", interpreter->string(), entry.package,
                            why.substr(why.rfind('\n') + 1)),
                command.name, command_to_install(entry.package, interpreter->string()));
  }
}

}  // namespace memduel
