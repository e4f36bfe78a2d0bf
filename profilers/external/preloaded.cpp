#include "external/preloaded.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "util/error.h"
#include "util/process.h"

namespace memduel {
namespace {

namespace fs = std::filesystem;

constexpr std::array kLibraryFolders = {
    "/usr/local/lib", "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64",
    "/usr/lib",       "/usr/lib/heaptrack",        "/usr/lib64/heaptrack"};

}  // namespace

fs::path dump_library() {
  return library_beside_programs("libmemduel_dump.so");
}

std::optional<fs::path> find_shared_library(const std::string& name) {
  const char* listed = std::getenv("LD_LIBRARY_PATH");
  std::string rest = listed == nullptr ? "" : listed;
  std::error_code none;
  while (!rest.empty()) {
    const std::size_t colon = rest.find(':');
    const fs::path candidate = fs::path(rest.substr(0, colon)) / name;
    if (fs::is_regular_file(candidate, none)) return fs::absolute(candidate);
    rest = colon == std::string::npos ? "" : rest.substr(colon + 1);
  }
  for (const char* folder : kLibraryFolders)
    if (fs::is_regular_file(fs::path(folder) / name, none)) return fs::path(folder) / name;
  return std::nullopt;
}

Availability dump_library_is_here() {
  if (fs::exists(dump_library())) return {true, {}};
  return {false, dump_library().string() + " is missing; build the target memduel_dump"};
}

Availability library_works(const std::string& library) {
  if (const Availability dump = dump_library_is_here(); !dump.works) return dump;
  if (!find_shared_library(library)) return {false, library + " was not found"};
  return {true, {}};
}

EnvironmentVariables preload_environment(const std::string& tracer, const std::string& library,
                                         const fs::path& directory,
                                         const EnvironmentVariables& environment) {
  std::string preload = dump_library().string();
  if (!library.empty()) {
    const auto found = find_shared_library(library);
    if (!found) throw Error(ExitCode::io, "the profiler's library was not found", library);
    preload += ":" + found->string();
  }
  const std::string others = value_in(environment, "LD_PRELOAD");
  if (!others.empty()) preload += ":" + others;
  return {{"LD_PRELOAD", preload},
          {"MEMDUEL_TRACER", tracer},
          {"MEMDUEL_TRACER_DIR", directory.string()}};
}

std::string value_in(const EnvironmentVariables& environment, const std::string& name) {
  const auto found = environment.find(name);
  return found == environment.end() ? "" : found->second;
}

}  // namespace memduel
