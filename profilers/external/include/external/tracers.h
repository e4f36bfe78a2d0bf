// The interface of tracers, which record who allocates inside other processes, and every tracer
// memduel has, in one table: what `list profilers` prints and what a config may name.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "profile/recording.h"

namespace memduel {

using EnvironmentVariables = std::map<std::string, std::string>;

struct TracerOptions {
  /// Mean distance of samples, of tracers that sample. jemalloc takes powers of two.
  std::uint64_t interval_bytes = Preload().interval_bytes;
  bool every_allocation = false;  ///< leave none out, where the tracer samples
  double known_peak_bytes = 0;    ///< resident memory of the process without a tracer; 0: not known
};

/// What one file of a tracer is of.
struct LeftProfile {
  std::size_t image = 1;  ///< the process image, by its place among those that left something
  std::int64_t pid = 0;
  std::optional<int> round;  ///< a dump at the end of this round; absent: the whole run
};

struct KeptProfile {
  LeftProfile of;
  std::filesystem::path file;
};

struct KeptProfiles {
  std::vector<KeptProfile> files;    ///< by image; the whole run first, then rounds
  std::vector<std::string> missing;  ///< what is not there, and why
};

/// The file in which a profile is to be kept.
using ProfileNaming = std::function<std::filesystem::path(const LeftProfile&)>;

/// One row describes a tracer completely: `list profilers`, the help of `record` and the names of
/// its files come from here, and tests compare the schema and docs/profilers.md with it.
struct TracerEntry {
  std::string name;
  std::string extension;  ///< what the names of its files end with, without the dot: "mdp"
  std::string summary;
  std::string package;           ///< that brings it; empty: memduel itself
  std::string limits;            ///< what its numbers do not say
  std::string allocator;         ///< on which it runs the program; empty: on its own
  bool hides_allocator = false;  ///< malloc comes from the tracer, whichever allocator is behind it
  /// Only Python programs, and the package is PyPI's and belongs into their own environment: see
  /// require_python_package(). Else it is Debian's.
  bool records_python = false;
  bool samples = false;       ///< TracerOptions mean something to it
  bool dumps_rounds = false;  ///< then dump.cpp has a row for it
  /// Deadlines and waits of a trial under it are this many times as long.
  double patience = 1;
  Availability (*works_here)() = nullptr;

  /// Returns the variables to set in a process so that the tracer is in it. `environment` is the
  /// one that the process would have: what it preloads and sets for itself stays in force behind
  /// the tracer's. `directory` must exist when it starts, and is for one role of one trial alone.
  EnvironmentVariables (*variables)(const std::filesystem::path& directory,
                                    const EnvironmentVariables& environment,
                                    const TracerOptions& options) = nullptr;

  /// Moves what was left in `directory` to its places; files that are there are replaced. Throws
  /// Error(io) when one cannot be written. All files open with read_profile
  /// (profilers/readers/include/readers/read_profile.h).
  KeptProfiles (*keep)(const std::filesystem::path& directory,
                       const ProfileNaming& file_of) = nullptr;
};

const std::vector<TracerEntry>& tracers();

/// The entry called `name`. Throws Error(usage) that names the nearest tracer.
const TracerEntry& tracer_named(const std::string& name);

/// "apt-get install heaptrack"; empty where Debian's packages do not bring the tracer.
std::string command_to_install(const TracerEntry& entry);

/// Why the tracer is not here and how to get it, in one line; empty when it works.
std::string obstacle_here(const TracerEntry& entry, const Availability& here);

}  // namespace memduel
