#include "experiment/trial/wrapper_script.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace memduel {
namespace {

namespace fs = std::filesystem;

/// As execvp(3) would find it for the process; empty if it is not there.
fs::path executable(const ProcessSpec& spec, const std::string& name) {
  if (name.find('/') != std::string::npos) return (spec.cwd / name).lexically_normal();
  const auto own = spec.env.find("PATH");
  const char* inherited = std::getenv("PATH");
  std::istringstream folders(own != spec.env.end()  ? own->second
                             : inherited == nullptr ? ""
                                                    : inherited);
  for (std::string folder; std::getline(folders, folder, ':');) {
    fs::path file = spec.cwd / folder / name;
    std::error_code unreadable;
    if (fs::is_regular_file(file, unreadable) && ::access(file.c_str(), X_OK) == 0) return file;
  }
  return {};
}

/// The word that names the program which env(1) or a `#!` line executes.
std::string program_in(std::istream& words) {
  std::string word;
  words >> word;
  if (fs::path(word).filename() != "env") return word;
  while (words >> word)
    if (!word.starts_with("-") && word.find('=') == std::string::npos) return word;
  return {};
}

/// What a `#!` line names; empty for a file of another kind.
std::string interpreter_of(const fs::path& file) {
  constexpr int kMostBytes = 256;  // BINPRM_BUF_SIZE of Linux
  std::string line(kMostBytes, '\0');
  std::ifstream stream(file, std::ios::binary);
  stream.read(line.data(), kMostBytes);
  line.resize(static_cast<std::size_t>(stream.gcount()));
  if (!line.starts_with("#!")) return {};
  std::istringstream words(line.substr(2, line.find('\n') - 2));
  return program_in(words);
}

/// /bin may be a link to /usr/bin, and sh one to dash.
bool is_same_file(const fs::path& one, const fs::path& other) {
  std::error_code missing;
  return fs::equivalent(one, other, missing);
}

}  // namespace

std::optional<Note> program_behind_script(const ProcessSpec& spec,
                                          const std::vector<HeapCounters>& images) {
  if (images.empty() || spec.argv.empty()) return std::nullopt;
  std::stringstream command;
  for (const std::string& word : spec.argv) command << word << '\n';
  const fs::path script = executable(spec, program_in(command));
  fs::path interpreter = script;
  constexpr int kMostScripts = 5;  // as Linux has it
  for (int i = 0; i < kMostScripts; ++i) {
    const std::string next = interpreter_of(interpreter);
    if (next.empty()) break;
    interpreter = executable(spec, next);
  }
  if (script.empty() || interpreter == script) return std::nullopt;
  std::string program;  // the last of the role's first process
  for (const HeapCounters& image : images)
    if (image.pid == images.front().pid) program = image.program;
  if (interpreter.empty() || is_same_file(interpreter, program)) return std::nullopt;
  return Note{"program_behind_script",
              fmt::format("{} of {} is a script, {}, which ends by executing {}; what the script "
                          "itself uses is part of all numbers",
                          spec.argv.front(), spec.role, script.string(), program),
              "to measure the program without the script, put its path into the command"};
}

}  // namespace memduel
