#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "trial/marks.h"
#include "trial/processes.h"
#include "trial_processes.h"
#include "util/file.h"

namespace memduel {
namespace {

constexpr std::size_t kKeptOfALine = 64 * 1024;

}  // namespace

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
    return std::ranges::any_of(logs, [this](Log& log) { return found_in(log); });
  }

  bool found_in(Log& log) {
    const Descriptor file(open(log.path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file) return false;
    bool matched = false;
    std::array<char, 16384> buffer{};
    while (!matched) {
      const ssize_t got = pread(file.get(), buffer.data(), buffer.size(), log.offset);
      if (got <= 0) break;
      log.offset += got;
      matched = take({buffer.data(), static_cast<std::size_t>(got)}, log.line);
    }
    return matched;
  }

  /// A line counts as soon as it matches, complete or not: a prompt has no newline.
  bool take(std::string_view bytes, std::string& line) {
    while (!bytes.empty()) {
      const std::size_t newline = bytes.find('\n');
      line.append(bytes.substr(0, newline));
      if (line.size() > kKeptOfALine) line.erase(0, line.size() - kKeptOfALine);
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
  const auto inodes = listening_sockets(*ready_.port);
  if (inodes.empty()) return false;
  const bool ours =
      std::ranges::any_of(processes, [&](pid_t pid) { return holds_socket(pid, inodes); });
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
    return fmt::format("listening on port {}, which {} outside this role uses", *ready_.port,
                       listener_on(*ready_.port).value_or("a process"));
  }
  if (ready_.port) return fmt::format("listening on port {}", *ready_.port);
  if (ready_.log_pattern) return fmt::format("a log line that matches {}", *ready_.log_pattern);
  if (ready_.file) return fmt::format("the file {}", ready_.file->string());
  return fmt::format("{} s after its start", ready_.delay_seconds);
}

}  // namespace memduel
