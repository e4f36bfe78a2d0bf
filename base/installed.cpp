#include "base/installed.h"

#include <system_error>

namespace memduel {
namespace {

std::filesystem::path own_directory() {
  std::error_code unreadable;
  return std::filesystem::read_symlink("/proc/self/exe", unreadable).parent_path();
}

}  // namespace

std::filesystem::path program_beside(std::string_view name) {
  const std::filesystem::path directory = own_directory();
  return directory.empty() ? directory : directory / name;
}

std::filesystem::path library_beside_programs(std::string_view name) {
  const std::filesystem::path directory = own_directory();
  return directory.empty() ? directory : directory.parent_path() / "lib" / name;
}

}  // namespace memduel
