#include "experiment/builds/builds.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>

#include "base/error.h"
#include "experiment/builds/builds_libraries.h"

namespace memduel {
namespace {

namespace fs = std::filesystem;

bool lies_in(const fs::path& file, const fs::path& directory) {
  const fs::path relative = file.lexically_normal().lexically_relative(directory);
  return !relative.empty() && *relative.begin() != "..";
}

bool is_executable(const fs::path& file) {
  std::error_code ignored;
  return fs::is_regular_file(file, ignored) && ::access(file.c_str(), X_OK) == 0;
}

/// The two builds, where one may lie inside the other.
struct BuildSite {
  fs::path directory;
  fs::path other;

  [[nodiscard]] bool own(const fs::path& file) const {
    std::error_code ignored;
    const fs::path real = fs::weakly_canonical(file, ignored);
    const bool inside = lies_in(file, directory) || lies_in(real, directory);
    return inside && !(lies_in(other, directory) && lies_in(file, other));
  }
};

struct BuildIndex {
  std::map<std::string, std::vector<fs::path>> programs;
  std::map<std::string, std::vector<fs::path>> libraries;
};

/// Executables and shared libraries of a build by file name.
BuildIndex index_build(const BuildSite& site) {
  BuildIndex index;
  std::error_code error;
  const auto skip = fs::directory_options::skip_permission_denied;
  for (fs::recursive_directory_iterator at(site.directory, skip, error), end; !error && at != end;
       at.increment(error)) {
    const fs::path& path = at->path();
    std::error_code vanished;
    if (at->is_directory(vanished)) {
      if (path.filename() == ".git" || path.filename() == "CMakeFiles" || path == site.other)
        at.disable_recursion_pending();
      continue;
    }
    if (!at->is_regular_file(vanished)) continue;
    const std::string name = path.filename().string();
    if (name.find(".so") != std::string::npos)
      index.libraries[name].push_back(path);
    else if (is_executable(path))
      index.programs[name].push_back(path);
  }
  // The one nearest to the root of the build first.
  for (auto* all : {&index.programs, &index.libraries})
    for (auto& [name, paths] : *all)
      std::ranges::sort(paths, [](const fs::path& a, const fs::path& b) {
        const auto depth = [](const fs::path& path) {
          return std::distance(path.begin(), path.end());
        };
        return depth(a) != depth(b) ? depth(a) < depth(b) : a < b;
      });
  return index;
}

std::string relative_list(const std::vector<fs::path>& paths, const fs::path& directory) {
  std::vector<std::string> names;
  for (const fs::path& path : paths) names.push_back(path.lexically_relative(directory).string());
  return fmt::format("{}", fmt::join(names, ", "));
}

fs::path look_up(const std::string& program, const BuildSite& site, const BuildIndex& index) {
  fs::path named = (site.directory / program).lexically_normal();
  if (fs::path(program).is_absolute() || !lies_in(named, site.directory))
    throw Error(ExitCode::usage,
                fmt::format("found \"{}\", expected a path inside a build", program),
                site.directory.string(),
                "name the program as it lies in both builds, for instance bin/server");
  if (is_executable(named)) return named;
  const auto found = index.programs.find(fs::path(program).filename().string());
  const auto candidates = found == index.programs.end() ? std::vector<fs::path>() : found->second;
  if (candidates.size() == 1 && program.find('/') == std::string::npos) return candidates.front();
  throw Error(ExitCode::usage,
              candidates.size() > 1
                  ? fmt::format("{} executables are called \"{}\"", candidates.size(), program)
                  : fmt::format("no executable \"{}\"", program),
              site.directory.string(),
              candidates.empty()
                  ? "PROGRAM is a path in the build directory; perhaps it was not built"
                  : "name one of: " + relative_list(candidates, site.directory));
}

std::string inherited_library_path() {
  const char* value = std::getenv("LD_LIBRARY_PATH");
  return value == nullptr ? "" : value;
}

std::string joined(const std::vector<std::string>& folders) {
  const std::string inherited = inherited_library_path();
  std::string path = fmt::format("{}", fmt::join(folders, ":"));
  if (!path.empty() && !inherited.empty()) path += ":" + inherited;
  return path;
}

/// These belong to the dynamic linker: a copy of them in a build (a sysroot, a bundle) is not for
/// it.
bool is_c_library(const std::string& name) {
  constexpr std::array kNames = {"libc.so.6",  "libm.so.6",    "libpthread.so.0",
                                 "libdl.so.2", "librt.so.1",   "libresolv.so.2",
                                 "libc.so",    "libmvec.so.1", "libutil.so.1"};
  return std::ranges::find(kNames, name) != kNames.end();
}

/// The build's own copy of a library that would be loaded from elsewhere; null when it has none.
const fs::path* own_copy(const LoadedLibrary& library, const BuildSite& site,
                         const BuildIndex& index) {
  if (!library.path.empty() && site.own(library.path)) return nullptr;
  if (is_c_library(library.name)) return nullptr;
  const auto found = index.libraries.find(fs::path(library.name).filename().string());
  return found == index.libraries.end() ? nullptr : &found->second.front();
}

void refuse_foreign(const LoadedLibrary& library, const BuildSite& site, const BuildIndex& index,
                    const fs::path& program) {
  if (library.path.empty())
    throw Error(ExitCode::usage,
                fmt::format("needs {}, which is neither in its build nor installed", library.name),
                program.string(), "build it, or set LD_LIBRARY_PATH");
  const fs::path* own = own_copy(library, site, index);
  std::error_code ignored;
  const bool of_other = lies_in(library.path, site.other) ||
                        lies_in(fs::weakly_canonical(library.path, ignored), site.other);
  if (own == nullptr && (!of_other || site.own(library.path))) return;
  throw Error(
      ExitCode::usage,
      fmt::format("loads {} from {}, not from its own build", library.name, library.path.string()),
      program.string(),
      own == nullptr ? "its build has no copy of it"
                     : fmt::format("its build has {}: the program's RPATH comes before "
                                   "LD_LIBRARY_PATH, link it with -Wl,--enable-new-dtags",
                                   own->string()));
}

}  // namespace

BuildProgram find_in_build(const fs::path& directory, const std::string& program,
                           const fs::path& other) {
  std::error_code missing;
  const BuildSite site{fs::canonical(directory, missing), fs::weakly_canonical(other)};
  if (missing || !fs::is_directory(site.directory))
    throw Error(ExitCode::usage, "is no directory", directory.string(),
                "--build-a and --build-b take the directories of two builds");
  const BuildIndex index = index_build(site);
  BuildProgram build;
  build.directory = site.directory;
  build.program = look_up(program, site, index);
  build.files.push_back(read_build_file(build.program, site.directory));
  const BuildFile file = build.files.front();
  std::vector<std::string> folders;
  std::vector<LoadedLibrary> loaded = libraries_of(file, inherited_library_path());
  // A library from the build may need others of it, which show only then.
  for (bool again = true; again;) {
    again = false;
    for (const LoadedLibrary& library : loaded) {
      const fs::path* own = own_copy(library, site, index);
      if (own == nullptr) continue;
      const std::string folder = own->parent_path().string();
      if (std::ranges::find(folders, folder) != folders.end()) continue;
      folders.push_back(folder);
      again = true;
    }
    if (again) loaded = libraries_of(file, joined(folders));
  }
  build.library_path = joined(folders);
  for (const LoadedLibrary& library : loaded) {
    refuse_foreign(library, site, index, build.program);
    if (site.own(library.path))
      build.files.push_back(read_build_file(library.path.lexically_normal(), site.directory));
  }
  std::sort(build.files.begin() + 1, build.files.end(), [](const BuildFile& a, const BuildFile& b) {
    return a.path.filename() < b.path.filename();
  });
  return build;
}

bool is_in_build(const fs::path& directory, const std::string& program) {
  if (fs::path(program).is_absolute()) return false;
  std::error_code missing;
  const fs::path root = fs::canonical(directory, missing);
  const fs::path named = (root / program).lexically_normal();
  if (missing || !lies_in(named, root)) return false;
  if (is_executable(named)) return true;
  return program.find('/') == std::string::npos &&
         index_build({root, {}}).programs.contains(program);
}

bool same_build(const BuildProgram& a, const BuildProgram& b) {
  if (a.files.size() != b.files.size() || !a.files.front().is_elf) return false;
  return std::equal(a.files.begin(), a.files.end(), b.files.begin(),
                    [](const BuildFile& x, const BuildFile& y) {
                      return x.path.filename() == y.path.filename() && same_code(x, y);
                    });
}

std::string describe_build(const BuildProgram& build) {
  constexpr std::size_t kShownDigits = 12;
  const BuildFile& program = build.files.front();
  std::string text = build.program.lexically_relative(build.directory).string();
  text += program.build_id.empty() ? ", sha256 " + program.code_sha256.substr(0, kShownDigits)
                                   : ", build id " + program.build_id.substr(0, kShownDigits);
  for (std::size_t i = 1; i < build.files.size(); ++i)
    text += (i == 1 ? ", with " : ", ") + build.files[i].path.filename().string();
  return text;
}

}  // namespace memduel
