// What a build holds: its files, whatever directory it was built in, and the shared libraries that
// the dynamic linker would give its program.

#include "run/builds.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <string_view>

#include "profile/elf_file.h"
#include "util/bytes.h"
#include "util/error.h"
#include "util/file.h"
#include "util/process.h"

namespace memduel {
namespace {

std::string replaced(std::string text, const std::string& what, std::string_view by) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at))
    text.replace(at, what.size(), by);
  return text;
}

std::string bytes_of(Elf_Scn* section) {
  const Elf_Data* data = elf_rawdata(section, nullptr);
  if (data == nullptr || data->d_buf == nullptr) return {};
  return {static_cast<const char*>(data->d_buf), data->d_size};
}

/// The identifier of an NT_GNU_BUILD_ID note.
std::string build_id_in(Elf_Scn* section) {
  Elf_Data* data = elf_getdata(section, nullptr);
  if (data == nullptr) return {};
  GElf_Nhdr note{};
  std::size_t name = 0;
  std::size_t description = 0;
  std::size_t at = 0;
  while ((at = gelf_getnote(data, at, &note, &name, &description)) > 0) {
    const auto* bytes = static_cast<const unsigned char*>(data->d_buf);
    const std::string_view owner(reinterpret_cast<const char*>(bytes) + name, note.n_namesz);
    if (note.n_type != NT_GNU_BUILD_ID || owner != std::string_view("GNU\0", 4)) continue;
    std::string text;
    for (std::size_t i = 0; i < note.n_descsz; ++i)
      text += fmt::format("{:02x}", bytes[description + i]);
    return text;
  }
  return {};
}

/// Fills what the sections say; their contents without the directory.
std::string loaded_sections(const ElfHandle& elf, const std::string& directory, BuildFile& file) {
  std::string loaded;
  for_each_section(elf, [&](Elf_Scn* section, const GElf_Shdr& header) {
    if ((header.sh_flags & SHF_ALLOC) == 0) return;
    if (header.sh_type == SHT_NOTE && file.build_id.empty()) {
      file.build_id = build_id_in(section);
      if (!file.build_id.empty()) return;
    }
    const std::string bytes = header.sh_type == SHT_NOBITS ? "" : bytes_of(section);
    loaded += fmt::format("section of {} bytes\n", header.sh_size) +
              replaced(bytes, directory, "DIRECTORY");
  });
  return loaded;
}

std::string interpreter_of(Elf* elf, std::string_view bytes) {
  std::size_t count = 0;
  if (elf_getphdrnum(elf, &count) != 0) return {};
  for (std::size_t i = 0; i < count; ++i) {
    GElf_Phdr segment{};
    if (gelf_getphdr(elf, static_cast<int>(i), &segment) == nullptr) return {};
    const bool inside = segment.p_offset < bytes.size() && segment.p_filesz > 0 &&
                        segment.p_filesz <= bytes.size() - segment.p_offset;
    if (segment.p_type == PT_INTERP && inside)
      return std::string(bytes.substr(segment.p_offset, segment.p_filesz - 1));
  }
  return {};
}

}  // namespace

BuildFile read_build_file(const std::filesystem::path& path,
                          const std::filesystem::path& directory) {
  BuildFile file;
  file.path = path;
  std::string bytes = read_file(path);
  elf_version(EV_CURRENT);
  const ElfHandle elf(elf_memory(bytes.data(), bytes.size()));
  file.is_elf = elf && elf_kind(elf.get()) == ELF_K_ELF;
  std::string loaded;
  if (file.is_elf) {
    loaded = loaded_sections(elf, directory.string(), file);
    file.interpreter = interpreter_of(elf.get(), bytes);
  }
  // Without section headers nothing says what belongs to the code.
  if (loaded.empty()) loaded = replaced(bytes, directory.string(), "DIRECTORY");
  file.code_sha256 = sha256_hex(loaded);
  return file;
}

bool same_code(const BuildFile& a, const BuildFile& b) {
  if (!a.build_id.empty() && a.build_id == b.build_id) return true;
  return a.code_sha256 == b.code_sha256;
}

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
  const HelperResult listing = capture(
      {program.interpreter, "--library-path", library_path, "--list", program.path.string()});
  if (const auto missing = missing_library(listing.err)) return {{*missing, {}}};
  if (listing.exit_status != 0)
    throw Error(ExitCode::cannot_measure,
                fmt::format("{} --list ended with status {}: {}", program.interpreter,
                            listing.exit_status, trimmed(listing.err)),
                program.path.string());
  return parse_library_list(listing.out);
}

namespace {

namespace fs = std::filesystem;

bool lies_in(const fs::path& file, const fs::path& directory) {
  const fs::path relative = file.lexically_normal().lexically_relative(directory);
  return !relative.empty() && *relative.begin() != "..";
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
    else if (is_program(path))
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
                fmt::format("expected a path inside a build, found \"{}\"", program),
                site.directory.string(),
                "write its path relative to the build directories, for example bin/server");
  if (is_program(named)) return named;
  const auto found = index.programs.find(fs::path(program).filename().string());
  const auto candidates = found == index.programs.end() ? std::vector<fs::path>() : found->second;
  if (candidates.size() == 1 && program.find('/') == std::string::npos) return candidates.front();
  throw Error(ExitCode::usage,
              candidates.size() > 1
                  ? fmt::format("{} executables are called \"{}\"", candidates.size(), program)
                  : fmt::format("found no executable \"{}\"", program),
              site.directory.string(),
              candidates.empty()
                  ? "PROGRAM is a path in the build directory; check that it was built"
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
      own == nullptr
          ? "its build has no copy of it"
          : fmt::format("its build has {}, but the program's RPATH takes precedence over "
                        "LD_LIBRARY_PATH: link it with -Wl,--enable-new-dtags",
                        own->string()));
}

}  // namespace

BuildProgram find_in_build(const fs::path& directory, const std::string& program,
                           const fs::path& other) {
  std::error_code missing;
  const BuildSite site{fs::canonical(directory, missing), fs::weakly_canonical(other)};
  if (missing || !fs::is_directory(site.directory))
    throw Error(ExitCode::usage, "is not a directory", directory.string(),
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
  if (is_program(named)) return true;
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
