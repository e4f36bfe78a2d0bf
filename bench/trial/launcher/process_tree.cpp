#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <map>
#include <memory>
#include <sstream>

#include "trial/processes.h"

namespace memduel {
namespace {

std::string proc_file(pid_t pid, const std::string& name) {
  const std::string path = "/proc/" + std::to_string(pid) + "/" + name;
  std::string bytes;
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return bytes;
  std::array<char, 4096> buffer{};
  for (;;) {
    const ssize_t got = read(file, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    bytes.append(buffer.data(), static_cast<std::size_t>(got));
  }
  close(file);
  return bytes;
}

/// Field `number` of a stat line, of which `rest` begins with field 3.
std::optional<std::uint64_t> stat_field(std::string_view rest, int number) {
  for (int field = 3; field < number; ++field) {
    const std::size_t space = rest.find(' ');
    if (space == std::string_view::npos) return std::nullopt;
    rest.remove_prefix(space + 1);
  }
  std::uint64_t value = 0;
  const auto read = std::from_chars(rest.data(), rest.data() + rest.size(), value);
  return read.ec == std::errc{} ? std::optional(value) : std::nullopt;
}

/// Of every entry of a directory of /proc whose name is a number.
std::vector<pid_t> numbers_in(const std::string& directory) {
  std::vector<pid_t> numbers;
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(opendir(directory.c_str()), closedir);
  if (!entries) return numbers;
  while (const dirent* entry = readdir(entries.get())) {
    const pid_t number = static_cast<pid_t>(std::strtol(entry->d_name, nullptr, 10));
    if (number > 0) numbers.push_back(number);
  }
  return numbers;
}

/// Dead ones, too. One that ends while the list is read may hide its neighbour until the next time.
std::vector<ProcessLine> children_of(pid_t parent) {
  std::vector<ProcessLine> children;
  for (const pid_t thread : numbers_in("/proc/" + std::to_string(parent) + "/task")) {
    std::istringstream list(proc_file(parent, "task/" + std::to_string(thread) + "/children"));
    for (pid_t child = 0; list >> child;)
      if (const auto line = process_line(child)) children.push_back(*line);
  }
  return children;
}

/// All below `root` but dead ones; `children` gives those of a process.
template <class Children>
std::vector<pid_t> walk(pid_t root, Children children) {
  std::vector<pid_t> found;
  std::vector<pid_t> open = {root};
  while (!open.empty()) {
    const pid_t parent = open.back();
    open.pop_back();
    for (const ProcessLine& child : children(parent)) {
      open.push_back(child.pid);
      if (!is_dead(child)) found.push_back(child.pid);
    }
  }
  return found;
}

}  // namespace

bool is_dead(const ProcessLine& process) {
  return process.state == 'Z' || process.state == 'X';
}

std::optional<ProcessLine> parse_process_line(std::string_view stat) {
  ProcessLine line;
  const std::size_t name_end = stat.rfind(") ");
  if (name_end == std::string_view::npos || stat.size() < name_end + 5) return std::nullopt;
  const char* end = stat.data() + stat.size();
  if (std::from_chars(stat.data(), end, line.pid).ec != std::errc{}) return std::nullopt;
  line.state = stat[name_end + 2];
  if (std::from_chars(stat.data() + name_end + 4, end, line.parent).ec != std::errc{}) {
    return std::nullopt;
  }
  constexpr int kStartTime = 22;
  line.started = stat_field(stat.substr(name_end + 2), kStartTime);
  return line;
}

std::optional<ProcessLine> process_line(pid_t pid) {
  return parse_process_line(proc_file(pid, "stat"));
}

std::vector<ProcessLine> all_processes() {
  std::vector<ProcessLine> processes;
  for (const pid_t pid : numbers_in("/proc"))
    if (const auto line = process_line(pid)) processes.push_back(*line);
  return processes;
}

std::vector<pid_t> descendants_of(pid_t root, const std::vector<ProcessLine>& processes) {
  std::map<pid_t, std::vector<ProcessLine>> children;
  for (const ProcessLine& process : processes) children[process.parent].push_back(process);
  return walk(root, [&](pid_t parent) { return children[parent]; });
}

std::vector<pid_t> descendants_of(pid_t root) {
  static const bool are_listed = access("/proc/thread-self/children", R_OK) == 0;
  return are_listed ? walk(root, children_of) : descendants_of(root, all_processes());
}

std::optional<std::string> environment_of(pid_t pid, std::string_view variable) {
  const std::string environment = proc_file(pid, "environ");
  const std::string wanted = std::string(variable) + "=";
  std::size_t begin = 0;
  while (begin < environment.size()) {
    const std::size_t end = std::min(environment.find('\0', begin), environment.size());
    if (environment.compare(begin, wanted.size(), wanted) == 0) {
      return environment.substr(begin + wanted.size(), end - begin - wanted.size());
    }
    begin = end + 1;
  }
  return std::nullopt;
}

std::string command_of(pid_t pid, std::size_t longest) {
  std::string command = proc_file(pid, "cmdline").substr(0, longest);
  while (!command.empty() && command.back() == '\0') command.pop_back();
  std::ranges::replace(command, '\0', ' ');
  return command;
}

std::vector<pid_t> marked_processes(const std::string& trial,
                                    const std::vector<ProcessLine>& processes) {
  std::vector<pid_t> marked;
  for (const ProcessLine& process : processes) {
    if (!is_dead(process) && environment_of(process.pid, kTrialVariable) == trial) {
      marked.push_back(process.pid);
    }
  }
  return marked;
}

}  // namespace memduel
