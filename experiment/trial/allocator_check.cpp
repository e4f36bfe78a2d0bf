#include "experiment/trial/allocator_check.h"

#include <fmt/format.h>
#include <unistd.h>

#include <sstream>

#include "memory/text_file.h"
#include "profilers/profile/capture/preload.h"

namespace memduel {
namespace {

namespace fs = std::filesystem;

bool is_libc(const std::string& file) {
  const std::string name = fs::path(file).filename().string();
  return name.starts_with("libc.so.") || name.starts_with("libc-2.");
}

/// Libraries are known by another path through links: libmimalloc.so.2 is libmimalloc.so.2.0.
std::string real_name(const fs::path& library) {
  std::error_code error;
  const fs::path real = fs::canonical(library, error);
  return (error ? library : real).filename().string();
}

bool is_required(const RequiredAllocator& required, const std::string& provider) {
  if (required.library.empty()) return is_libc(provider);
  return real_name(provider) == real_name(required.library);
}

fs::path file_of(const std::string& program, const std::string& path) {
  if (program.find('/') != std::string::npos) return program;
  std::istringstream folders(path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    fs::path file = fs::path(folder) / program;
    if (::access(file.c_str(), X_OK) == 0) return file;
  }
  return program;
}

/// What keeps a preload out of each program, asked once.
class Obstacles {
 public:
  explicit Obstacles(std::string path) : path_(std::move(path)) {}

  const std::string& of(const std::string& program) {
    const auto [known, is_new] = known_.try_emplace(program);
    if (is_new) known->second = obstacle_to_recording(file_of(program, path_));
    return known->second;
  }

 private:
  std::string path_;
  std::map<std::string, std::string> known_;
};

constexpr char kCleaned[] =
    "it was started without LD_PRELOAD or MEMDUEL_WITNESS in its environment";

/// Why the last image of the role's own process said nothing.
std::string why_silent(const std::string& program, bool cleaned, Obstacles& obstacles) {
  if (const std::string& obstacle = obstacles.of(program); !obstacle.empty())
    return fmt::format("{}: {}", program, obstacle);
  if (cleaned) return fmt::format("{}: {}", program, kCleaned);
  return program + " never loaded what LD_PRELOAD names";
}

/// The images that the witness was in, each with its malloc; empty when all are as required.
std::string wrong_provider(const RequiredAllocator& required, const WitnessLog& log, pid_t own) {
  for (const WitnessedImage& image : log.images) {
    if (is_required(required, image.provider)) continue;
    return fmt::format("malloc of {}{} comes from {}", image.pid == own ? "" : "its descendant ",
                       image.program, image.provider);
  }
  return {};
}

/// Of a program that is linked dynamically: there from its first instruction, before libc is.
bool is_dynamic_linker(const std::string& file) {
  const std::string name = fs::path(file).filename().string();
  return name.starts_with("ld-linux") || name.starts_with("ld-2.");
}

}  // namespace

AllocatorFindings judge_allocator(const RequiredAllocator& required, const OwnProcess& own,
                                  const WitnessLog& log) {
  AllocatorFindings findings;
  Obstacles obstacles(own.path);
  const auto fail = [&](const std::string& why) {
    if (findings.failure.empty())
      findings.failure = fmt::format("did not run under {}: {}", required.name, why);
  };
  if (const std::string wrong = wrong_provider(required, log, own.pid); !wrong.empty()) fail(wrong);
  for (const SilentImage& image : log.silent) {
    if (image.pid == own.pid) continue;
    const std::string& obstacle = obstacles.of(image.program);
    if (!obstacle.empty())
      findings.helpers.insert(fmt::format("{}: {}", image.program, obstacle));
    else if (image.cleaned)
      fail(fmt::format("its descendant {}: {}", image.program, kCleaned));
    else
      findings.helpers.insert(image.program + ": it ended before it could load anything");
  }
  const WitnessedImage* last = log.last_of(own.pid);
  if (last == nullptr) {
    const SilentImage* silent = log.silent_of(own.pid);
    fail(silent == nullptr ? why_silent(own.program, false, obstacles)
                           : why_silent(silent->program, silent->cleaned, obstacles));
  }
  if (findings.failure.empty()) findings.library = last->provider;
  return findings;
}

std::optional<bool> maps_library(std::string_view maps, const fs::path& library) {
  if (maps.empty()) return std::nullopt;
  const std::string name = library.empty() ? "" : real_name(library);
  for (std::size_t at = 0; at < maps.size();) {
    const std::size_t end = std::min(maps.find('\n', at), maps.size());
    const std::string_view line = maps.substr(at, end - at);
    at = end + 1;
    const std::size_t slash = line.find('/');
    if (slash == std::string_view::npos) continue;
    const std::string file(line.substr(slash));
    if (library.empty() ? is_dynamic_linker(file) : fs::path(file).filename() == name) return true;
  }
  return false;
}

bool AllocatorWatch::due(std::int64_t now_ns) {
  if (now_ns < due_ns_) return false;
  due_ns_ = now_ns + kLookInterval;
  return true;
}

std::optional<std::string> AllocatorWatch::look(pid_t pid, const RequiredAllocator& required) {
  std::error_code error;
  const std::string program =
      fs::read_symlink("/proc/" + std::to_string(pid) + "/exe", error).string();
  if (error) return std::nullopt;  // it has ended, or is not ours to read
  Seen& seen = seen_[pid];
  if (seen.program == program && seen.has_it) return std::nullopt;
  if (seen.program != program) seen = {program, false, 0};
  const auto has_it = maps_library(text_of(fmt::format("/proc/{}/maps", pid)), required.library);
  if (!has_it) return std::nullopt;
  seen.has_it = *has_it;
  seen.looks_without = *has_it ? 0 : seen.looks_without + 1;
  if (seen.looks_without < kPatience) return std::nullopt;
  const std::string obstacle = obstacle_to_recording(program);
  return fmt::format("did not run under {}: process {} ({}) has not mapped {}{}", required.name,
                     pid, program,
                     required.library.empty() ? "a dynamic linker" : required.library.string(),
                     obstacle.empty() ? "" : ": " + obstacle);
}

}  // namespace memduel
