// The tracers: of each the variables that bring it into a process, what becomes of its files, and
// its row in the table.
//
// recorder: memduel's own.
//
// heaptrack: its library alone. The command heaptrack stays in the foreground itself, pipes the
// trace through two more processes and prints into the program's output; the library writes the
// same raw trace to a file.
//
// gperftools: tcmalloc's heap profiler. libmemduel_dump.so starts it: with HEAPPROFILE forked
// children and executed programs would share files.
//
// jemalloc: its heap profiler, in a build that has it (Debian's has). Dumps are taken through
// mallctl by libmemduel_dump.so: the option prof_final can deadlock in a program whose atexit
// allocates.
//
// memray: started in the program's own Python by a sitecustomize.py. `memray run` follows no
// executed programs, and the servers and clients of FL frameworks are mostly such.

#include "external/tracers.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "dump_format.h"
#include "external/preloaded.h"
#include "left_files.h"
#include "memray.h"
#include "model/removed.h"
#include "model/run_directory.h"
#include "profile/recorded_files.h"
#include "profile/recording.h"
#include "util/error.h"
#include "util/file.h"
#include "util/text.h"

namespace memduel {

namespace {

/// The least that a snapshot holds of the trial's own peak, in percent.
constexpr int kSnapshotPercent = 97;
/// Below this share of the known peak snapshots are rare: a trial's peak may be lower than others.
constexpr double kLeastOfPeak = 0.8;

EnvironmentVariables recorder_variables(const std::filesystem::path& directory,
                                        const EnvironmentVariables& environment,
                                        const TracerOptions& options) {
  Preload preload;
  preload.mode = options.every_allocation ? RecordMode::exact : RecordMode::sampled;
  preload.interval_bytes = options.interval_bytes;
  preload.snapshot = snapshot_at_peak(kSnapshotPercent, kLeastOfPeak * options.known_peak_bytes);
  return recording_environment(preload, directory, value_in(environment, "LD_PRELOAD"));
}

KeptProfiles keep_recordings(const std::filesystem::path& directory, const ProfileNaming& file_of) {
  KeptProfiles kept;
  const auto image_file = [&](const ImagePlan& plan, std::size_t number) {
    return file_of({number, plan.pids[number - 1], std::nullopt});
  };
  const auto keep_image = [&](const ImagePlan& plan, std::size_t number, std::string_view bytes) {
    const std::filesystem::path file = image_file(plan, number);
    kept.files.push_back({{number, plan.pids[number - 1], std::nullopt}, file});
    write_file_atomically(file, bytes);
    return std::optional(file);
  };
  RecordedImages recorded =
      finish_images(directory, {image_file, keep_image}, {default_symbol_cache(), false});
  kept.missing = std::move(recorded.unreadable);
  return kept;
}

TracerEntry recorder_entry() {
  TracerEntry entry;
  entry.name = kRecorderTracer;
  entry.extension = "mdp";
  entry.summary =
      "memduel's own: samples or every allocation, by round and phase, with exact counters";
  entry.limits =
      "Sampled amounts have a 95% CI. Static and setuid programs cannot be recorded, as with all "
      "profilers.";
  entry.samples = true;
  entry.works_here = recorder_works;
  entry.variables = recorder_variables;
  entry.keep = keep_recordings;
  return entry;
}

constexpr const char* kHeaptrackLibrary = "libheaptrack_preload.so";

EnvironmentVariables heaptrack_variables(const std::filesystem::path& directory,
                                         const EnvironmentVariables& environment,
                                         const TracerOptions& /*options*/) {
  auto variables = preload_environment("heaptrack", kHeaptrackLibrary, directory, environment);
  variables[kDumpedPreload] = variables.at("LD_PRELOAD");
  // heaptrack replaces $$ by the process's id.
  variables["DUMP_HEAPTRACK_OUTPUT"] = (directory / "0-$$").string();
  return variables;
}

TracerEntry heaptrack_entry() {
  TracerEntry entry;
  entry.name = "heaptrack";
  entry.extension = "heaptrack.zst";
  entry.summary = "every allocation with its stack, and the heap over time";
  entry.package = "heaptrack";
  entry.limits =
      "Rounds are not distinguished. A forked child is recorded once it executes a program. With "
      "a preloaded jemalloc, tcmalloc or mimalloc, calls of operator new are not recorded.";
  entry.hides_allocator = true;
  entry.patience = 10;
  entry.works_here = [] { return library_works(kHeaptrackLibrary); };
  entry.variables = heaptrack_variables;
  entry.keep = keep_packed_lines;
  return entry;
}

/// Of tracers that write when the program ends.
constexpr const char* kNeedsAnEnd =
    " A killed process leaves only the dumps from the ends of its rounds.";

constexpr const char* kTcmalloc = "libtcmalloc.so.4";

EnvironmentVariables gperftools_variables(const std::filesystem::path& directory,
                                          const EnvironmentVariables& environment,
                                          const TracerOptions& /*options*/) {
  auto variables = preload_environment("gperftools", kTcmalloc, directory, environment);
  // No dumps but those at the ends of rounds and of the program.
  variables["HEAP_PROFILE_ALLOCATION_INTERVAL"] = "0";
  variables["HEAP_PROFILE_INUSE_INTERVAL"] = "0";
  return variables;
}

TracerEntry gperftools_entry() {
  TracerEntry entry;
  entry.name = "gperftools";
  entry.extension = "gperftools.heap";
  entry.summary = "every allocation by stack: live at ends of rounds and at exit, and allocated";
  entry.package = "libgoogle-perftools4";
  entry.limits =
      std::string(
          "No peak. Up to version 2.15 a dump is limited to 1 MiB and omits the rest; the "
          "run warns of it. Forked children that execute no program leave no profile.") +
      kNeedsAnEnd;
  entry.allocator = "tcmalloc";
  entry.dumps_rounds = true;
  entry.patience = 50;
  entry.works_here = [] { return library_works(kTcmalloc); };
  entry.variables = gperftools_variables;
  entry.keep = keep_dumps;
  return entry;
}

constexpr const char* kJemalloc = "libjemalloc.so.2";

int log2_of(std::uint64_t interval_bytes) {
  if (std::has_single_bit(interval_bytes)) return std::countr_zero(interval_bytes);
  throw Error(
      ExitCode::usage,
      fmt::format("jemalloc cannot sample every {} bytes: it takes powers of two", interval_bytes),
      {}, fmt::format("give {}", std::bit_floor(interval_bytes)));
}

EnvironmentVariables jemalloc_variables(const std::filesystem::path& directory,
                                        const EnvironmentVariables& environment,
                                        const TracerOptions& options) {
  auto variables = preload_environment("jemalloc", kJemalloc, directory, environment);
  const int sample = options.every_allocation ? 0 : log2_of(options.interval_bytes);
  // The last word on an option counts: the program's own stay in force.
  std::string settings = value_in(environment, "MALLOC_CONF");
  if (!settings.empty()) settings += ",";
  settings += fmt::format("prof:true,prof_active:true,prof_accum:true,lg_prof_sample:{}", sample);
  variables["MALLOC_CONF"] = settings;
  return variables;
}

// One without the profiler takes no stacks, and so has no use for an unwinder.
Availability jemalloc_works() {
  Availability here = library_works(kJemalloc);
  if (!here.works) return here;
  const std::string bytes = read_file(*find_shared_library(kJemalloc));
  const bool unwinds = bytes.find("_Unwind_Backtrace") != std::string::npos ||
                       bytes.find("unw_backtrace") != std::string::npos;
  if (!unwinds) return {false, std::string(kJemalloc) + " was built without its profiler"};
  return here;
}

TracerEntry jemalloc_entry() {
  TracerEntry entry;
  entry.name = "jemalloc";
  entry.extension = "jemalloc.heap";
  entry.summary = "samples by stack: live at ends of rounds and at exit, and allocated";
  entry.package = "libjemalloc2";
  entry.limits =
      std::string("No peak; bytes of jemalloc's size classes, not requested ones.") + kNeedsAnEnd;
  entry.allocator = "jemalloc";
  entry.samples = true;
  entry.dumps_rounds = true;
  entry.patience = 3;
  entry.works_here = jemalloc_works;
  entry.variables = jemalloc_variables;
  entry.keep = keep_dumps;
  return entry;
}

TracerEntry memray_entry() {
  TracerEntry entry;
  entry.name = "memray";
  entry.extension = "memray.json";
  entry.summary = "Python programs: every allocation by Python stack, at the peak and at the end";
  entry.package = "memray";
  entry.limits =
      "Rounds are not distinguished. Native frames are not recorded, and threads that run no "
      "Python have no stack. Small objects are in arenas of 256 KiB or 1 MiB, unless the program "
      "has "
      "PYTHONMALLOC=malloc.";
  entry.records_python = true;
  entry.patience = 3;
  entry.works_here = memray_scripts_work;
  entry.variables = memray_variables;
  entry.keep = keep_captures;
  return entry;
}

}  // namespace

const std::vector<TracerEntry>& tracers() {
  static const std::vector<TracerEntry> table = {
      recorder_entry(), heaptrack_entry(), gperftools_entry(), jemalloc_entry(), memray_entry()};
  return table;
}

const TracerEntry& tracer_named(const std::string& name) {
  const auto& table = tracers();
  const auto found = std::ranges::find(table, name, &TracerEntry::name);
  if (found != table.end()) return *found;
  std::vector<std::string> names;
  for (const TracerEntry& entry : table) names.push_back(entry.name);
  std::string advice = nearest_advice(name, names, kAllTracers);
  if (const auto replacement = replacement_for(Removed::tracer, name)) advice = *replacement;
  throw Error(ExitCode::usage, "there is no profiler \"" + name + "\"", {}, advice);
}

std::string command_to_install(const TracerEntry& entry) {
  return entry.package.empty() || entry.records_python ? "" : "apt-get install " + entry.package;
}

std::string obstacle_here(const TracerEntry& entry, const Availability& here) {
  if (here.works) return {};
  const std::string command = command_to_install(entry);
  return command.empty() ? here.why : here.why + "; " + command;
}

}  // namespace memduel
