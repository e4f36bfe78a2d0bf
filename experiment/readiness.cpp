#include "experiment/readiness.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "base/error.h"
#include "base/file.h"
#include "experiment/log_pattern.h"

namespace memduel {
namespace {

std::vector<std::string_view> split_words(std::string_view line) {
  std::vector<std::string_view> words;
  while (true) {
    const std::size_t begin = line.find_first_not_of(' ');
    if (begin == std::string_view::npos) return words;
    line.remove_prefix(begin);
    const std::size_t end = std::min(line.find(' '), line.size());
    words.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
}

template <typename Number>
std::optional<Number> number(std::string_view word, int base) {
  Number value{};
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value, base);
  if (error != std::errc{} || end != word.data() + word.size()) return std::nullopt;
  return value;
}

bool holds_socket(pid_t pid, const std::vector<std::uint64_t>& inodes) {
  const std::string directory = fmt::format("/proc/{}/fd", pid);
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(opendir(directory.c_str()), closedir);
  if (!entries) return false;
  while (const dirent* entry = readdir(entries.get())) {
    std::array<char, 64> target{};
    const ssize_t length =
        readlinkat(dirfd(entries.get()), entry->d_name, target.data(), target.size());
    if (length <= 0) continue;
    const std::string_view text(target.data(), static_cast<std::size_t>(length));
    if (!text.starts_with("socket:[") || !text.ends_with("]")) continue;
    const auto inode = number<std::uint64_t>(text.substr(8, text.size() - 9), 10);
    if (inode && std::find(inodes.begin(), inodes.end(), *inode) != inodes.end()) return true;
  }
  return false;
}

/// The kernel's table as it is now; a system without IPv6 has no tcp6.
std::string socket_table(const char* path) {
  try {
    return read_file(path);
  } catch (const Error&) {
    return {};
  }
}

constexpr std::size_t kMaxLine = 64 * 1024;

}  // namespace

std::vector<std::uint64_t> listening_sockets(std::string_view table, int port) {
  std::vector<std::uint64_t> inodes;
  while (!table.empty()) {
    const std::size_t newline = std::min(table.find('\n'), table.size());
    const auto words = split_words(table.substr(0, newline));
    table.remove_prefix(std::min(newline + 1, table.size()));
    // sl local_address rem_address st … inode at the tenth place; 0A is LISTEN.
    if (words.size() < 10 || words[3] != "0A") continue;
    const std::size_t colon = words[1].rfind(':');
    if (colon == std::string_view::npos) continue;
    if (number<int>(words[1].substr(colon + 1), 16) != port) continue;
    if (const auto inode = number<std::uint64_t>(words[9], 10)) inodes.push_back(*inode);
  }
  return inodes;
}

/// Reads what was appended to the logs since the last look and searches it line by line.
struct Readiness::LogSearch {
  struct Log {
    std::filesystem::path path;
    off_t offset = 0;
    std::string line;
  };

  LogSearch(const std::string& text, const std::vector<std::filesystem::path>& paths)
      : pattern(text) {
    for (const auto& path : paths) logs.push_back({path, 0, {}});
  }

  bool found() {
    return std::any_of(logs.begin(), logs.end(), [this](Log& log) { return found_in(log); });
  }

  bool found_in(Log& log) {
    const int file = open(log.path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    bool matched = false;
    std::array<char, 16384> buffer{};
    while (!matched) {
      const ssize_t got = pread(file, buffer.data(), buffer.size(), log.offset);
      if (got <= 0) break;
      log.offset += got;
      matched = take({buffer.data(), static_cast<std::size_t>(got)}, log.line);
    }
    close(file);
    return matched;
  }

  /// A line counts as soon as it matches, complete or not: a prompt has no newline.
  bool take(std::string_view bytes, std::string& line) {
    while (!bytes.empty()) {
      const std::size_t newline = bytes.find('\n');
      line.append(bytes.substr(0, newline));
      if (line.size() > kMaxLine) line.erase(0, line.size() - kMaxLine);
      if (pattern.matches(line)) return true;
      if (newline == std::string_view::npos) break;
      line.clear();
      bytes.remove_prefix(newline + 1);
    }
    return false;
  }

  LogPattern pattern;
  std::vector<Log> logs;
};

Readiness::Readiness(const Ready& ready, std::vector<std::filesystem::path> logs) : ready_(ready) {
  if (ready_.log_pattern) log_search_ = std::make_unique<LogSearch>(*ready_.log_pattern, logs);
}

Readiness::~Readiness() = default;

bool Readiness::port_is_open(const std::vector<pid_t>& processes) {
  std::vector<std::uint64_t> inodes;
  for (const char* path : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    const auto more = listening_sockets(socket_table(path), *ready_.port);
    inodes.insert(inodes.end(), more.begin(), more.end());
  }
  if (inodes.empty()) return false;
  const bool ours = std::any_of(processes.begin(), processes.end(),
                                [&](pid_t pid) { return holds_socket(pid, inodes); });
  port_held_by_another_ = !ours;
  return ours;
}

bool Readiness::condition_met(const std::vector<pid_t>& processes) {
  if (ready_.port && !port_is_open(processes)) return false;
  if (log_search_ && !log_search_->found()) return false;
  return !ready_.file || std::filesystem::exists(*ready_.file);
}

bool Readiness::met(std::int64_t now_ns, const std::vector<pid_t>& processes) {
  if (condition_met_ns_ == 0) {
    if (!condition_met(processes)) return false;
    condition_met_ns_ = now_ns;
  }
  return static_cast<double>(now_ns - condition_met_ns_) >= ready_.delay_seconds * 1e9;
}

std::string Readiness::describe() const {
  if (ready_.port && port_held_by_another_) {
    return fmt::format("port {}, which a process outside the trial holds", *ready_.port);
  }
  if (ready_.port) return fmt::format("listening on port {}", *ready_.port);
  if (ready_.log_pattern) return fmt::format("a log line that matches {}", *ready_.log_pattern);
  if (ready_.file) return fmt::format("the file {}", ready_.file->string());
  return fmt::format("{} s after its start", ready_.delay_seconds);
}

}  // namespace memduel
