#include "allocator_arm.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gnu/libc-version.h>

#include <algorithm>
#include <array>
#include <optional>
#include <sstream>

#include "recorder/witness_format.h"
#include "util/error.h"
#include "util/file.h"
#include "util/process.h"

namespace memduel {
namespace {

namespace fs = std::filesystem;

const std::array<AllocatorOffer, 4>& offers() {
  static const std::array<AllocatorOffer, 4> kOffers = {{
      {Allocator::glibc,
       {},
       "libc6",
       {{"MALLOC_ARENA_MAX", "2"}, {"MALLOC_MMAP_THRESHOLD_", "131072"}}},
      {Allocator::jemalloc,
       {"libjemalloc.so.2"},
       "libjemalloc2",
       {{"MALLOC_CONF", "dirty_decay_ms:5000,muzzy_decay_ms:5000"}}},
      {Allocator::tcmalloc,
       {"libtcmalloc_minimal.so.4", "libtcmalloc.so.4"},
       "libtcmalloc-minimal4",
       {{"TCMALLOC_RELEASE_RATE", "10"}}},
      {Allocator::mimalloc, {"libmimalloc.so.2", "libmimalloc.so.2.0"}, "libmimalloc2.0", {}},
  }};
  return kOffers;
}

/// The multiarch directory of this machine, whatever it is called.
fs::path directory_of_libc() {
  Dl_info about{};
  if (dladdr(reinterpret_cast<void*>(&gnu_get_libc_version), &about) == 0) return "/usr/lib";
  std::error_code error;
  const fs::path file = fs::canonical(about.dli_fname, error);
  return error ? fs::path("/usr/lib") : file.parent_path();
}

/// Empty where there is no ldconfig: then there is no cache either.
std::string ldconfig_cache() {
  HelperOptions options;
  options.stop = nullptr;  // a trial that is planned is ended in order
  for (const char* program : {"/sbin/ldconfig", "/usr/sbin/ldconfig"}) {
    if (is_there(program)) return capture({program, "-p"}, options).out;
  }
  return {};
}

void refuse_split(const fs::path& library) {
  if (library.string().find_first_of(" :") == std::string::npos) return;
  throw Error(ExitCode::cannot_measure,
              "LD_PRELOAD splits at spaces and colons, but this path contains one",
              library.string(), "install or link it to a path without them");
}

/// Put before what the process would have preloaded.
void preload_first(ProcessSpec& process, const fs::path& library, const std::string& inherited) {
  const auto own = process.env.find("LD_PRELOAD");
  const std::string rest = own == process.env.end() ? inherited : own->second;
  process.env["LD_PRELOAD"] = library.string() + (rest.empty() ? "" : ":" + rest);
}

}  // namespace

const AllocatorOffer& offer_of(Allocator allocator) {
  return *std::ranges::find(offers(), allocator, &AllocatorOffer::allocator);
}

std::optional<fs::path> find_library(const std::vector<std::string>& files,
                                     const std::vector<fs::path>& directories,
                                     const std::string& cache) {
  std::error_code error;
  for (const std::string& file : files)
    for (const fs::path& directory : directories)
      if (fs::is_regular_file(directory / file, error)) return directory / file;
  for (const std::string& file : files) {
    std::istringstream lines(cache);
    for (std::string line; std::getline(lines, line);) {
      const auto arrow = line.find(" => ");
      if (arrow == std::string::npos || line.find("\t" + file + " (libc6,x86-64") != 0) continue;
      fs::path found = line.substr(arrow + 4);
      if (fs::is_regular_file(found, error)) return found;
    }
  }
  return std::nullopt;
}

fs::path checked_library(Allocator allocator, const std::optional<fs::path>& found) {
  if (!found) {
    const AllocatorOffer& offer = offer_of(allocator);
    throw Error(ExitCode::cannot_measure,
                fmt::format("allocator {} is not installed: found no {}", name_of(allocator),
                            fmt::join(offer.files, " and no ")),
                "", "install Debian's package " + offer.package);
  }
  refuse_split(*found);
  return *found;
}

fs::path allocator_library(Allocator allocator) {
  const AllocatorOffer& offer = offer_of(allocator);
  if (offer.files.empty()) return {};
  auto found =
      find_library(offer.files, {directory_of_libc(), "/usr/local/lib", "/usr/local/lib64"}, "");
  if (!found) found = find_library(offer.files, {}, ldconfig_cache());
  return checked_library(allocator, found);
}

void preload_allocator(ProcessSpec& process, Allocator allocator, const std::string& inherited) {
  for (const auto& [name, value] : offer_of(allocator).tuning) process.env.emplace(name, value);
  if (const fs::path library = allocator_library(allocator); !library.empty())
    preload_first(process, library, inherited);
}

void require_allocator(ProcessSpec& process, Allocator allocator, const std::string& inherited,
                       const fs::path& trial_dir) {
  const fs::path library = library_beside_programs(kWitnessLibrary);
  if (!fs::exists(library))
    throw Error(ExitCode::io, "the witness library is missing", library.string(),
                "build the target memduel_witness");
  refuse_split(library);
  preload_first(process, library, inherited);
  const fs::path file = trial_dir / "witness" / process.role;
  process.env[kWitnessVariable] = file.string();
  process.allocator = {name_of(allocator), allocator_library(allocator), file};
}

}  // namespace memduel
