#include "base/installed.h"

#include <unistd.h>

#include <string>
#include <system_error>

#include "base/error.h"

namespace memduel {
namespace {

std::filesystem::path own_directory() {
  std::error_code unreadable;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", unreadable);
  if (unreadable)
    throw Error(ExitCode::io, "cannot be read: " + unreadable.message(), "/proc/self/exe",
                "mount /proc: memduel finds its own parts and all processes there");
  const auto self = std::filesystem::read_symlink("/proc/self", unreadable);
  if (self != std::to_string(getpid()))
    throw Error(ExitCode::cannot_measure,
                "/proc/self is " + self.string() + ", and this is process " +
                    std::to_string(getpid()) + ": /proc shows another PID namespace",
                "", "mount its own: unshare --pid --fork --mount-proc");
  return program.parent_path();
}

/// What is installed comes before what lies in a build directory.
std::filesystem::path part(std::string_view name, const std::filesystem::path& built) {
  const std::filesystem::path directory = own_directory();
  std::filesystem::path installed = directory.parent_path() / "lib" / "memduel" / name;
  std::error_code unreadable;
  if (std::filesystem::exists(installed, unreadable)) return installed;
  return (directory / built / name).lexically_normal();
}

}  // namespace

std::filesystem::path program_beside(std::string_view name) {
  return part(name, ".");
}

std::string own_program(const std::string& name) {
  if (!name.starts_with("memduel-") || name.find('/') != std::string::npos) return name;
  const std::filesystem::path beside = program_beside(name);
  std::error_code unreadable;
  return std::filesystem::exists(beside, unreadable) ? beside.string() : name;
}

std::filesystem::path library_beside_programs(std::string_view name) {
  return part(name, "../lib");
}

}  // namespace memduel
