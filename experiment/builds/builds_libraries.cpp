#include "experiment/builds/builds_libraries.h"

#include <fmt/format.h>

#include <optional>
#include <sstream>
#include <string_view>

#include "base/capture.h"
#include "base/error.h"

namespace memduel {
namespace {

/// Without white space around it.
std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") + 1 - begin);
}

/// Without the address in parentheses at its end.
std::string_view without_address(std::string_view text) {
  const std::size_t at = text.rfind(" (0x");
  return at == std::string_view::npos ? text : text.substr(0, at);
}

/// The one that the linker names before it gives up.
std::optional<std::string> missing_library(const std::string& complaint) {
  constexpr std::string_view kBefore = "error while loading shared libraries: ";
  constexpr std::string_view kAfter = ": cannot open shared object file";
  const std::size_t begin = complaint.find(kBefore);
  const std::size_t end = complaint.find(kAfter);
  if (begin == std::string::npos || end == std::string::npos || end < begin) return std::nullopt;
  return complaint.substr(begin + kBefore.size(), end - begin - kBefore.size());
}

}  // namespace

std::vector<LoadedLibrary> parse_library_list(const std::string& listing) {
  constexpr std::string_view kArrow = " => ";
  std::vector<LoadedLibrary> libraries;
  std::istringstream lines(listing);
  for (std::string line; std::getline(lines, line);) {
    const std::string_view text = trimmed(line);
    const std::size_t arrow = text.find(kArrow);
    if (arrow == std::string_view::npos) {
      // A library that is asked for by its path; the dynamic linker itself is told like that, too.
      const std::string path(without_address(text));
      const std::string name = std::filesystem::path(path).filename().string();
      if (path.starts_with('/') && !name.starts_with("ld-")) libraries.push_back({path, path});
      continue;
    }
    const std::string_view found = text.substr(arrow + kArrow.size());
    const std::string path(found.starts_with("not found") ? "" : without_address(found));
    libraries.push_back({std::string(text.substr(0, arrow)), path});
  }
  return libraries;
}

std::vector<LoadedLibrary> libraries_of(const BuildFile& program, const std::string& library_path) {
  if (program.interpreter.empty()) return {};
  const Captured listing = capture(
      {program.interpreter, "--library-path", library_path, "--list", program.path.string()});
  if (const auto missing = missing_library(listing.err)) return {{*missing, {}}};
  if (listing.exit_status != 0)
    throw Error(ExitCode::cannot_measure,
                fmt::format("{} --list ended with status {}: {}", program.interpreter,
                            listing.exit_status, trimmed(listing.err)),
                program.path.string());
  return parse_library_list(listing.out);
}

}  // namespace memduel
