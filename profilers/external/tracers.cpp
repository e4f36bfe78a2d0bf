#include "profilers/tracers/registry.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/profile_name.h"
#include "base/removed.h"
#include "base/text.h"
#include "profilers/profile/capture/preload.h"
#include "profilers/tracers/backends.h"

namespace memduel {
namespace {

/// Of tracers that write when the program ends.
constexpr const char* kNeedsAnEnd =
    " A process that is killed leaves only what it dumped at the ends of its rounds.";

TracerEntry recorder_entry() {
  TracerEntry entry;
  entry.name = kRecorderTracer;
  entry.summary =
      "memduel's own: samples or every allocation, by round and phase, beside exact counters";
  entry.limits =
      "Sampled amounts have a 95 % interval. Static and setuid programs cannot be entered; so it "
      "is with all tracers.";
  entry.samples = true;
  entry.works_here = recorder_works;
  entry.make = make_recorder;
  return entry;
}

TracerEntry heaptrack_entry() {
  TracerEntry entry;
  entry.name = "heaptrack";
  entry.summary = "every allocation with its stack, and the heap over time";
  entry.package = "heaptrack";
  entry.limits =
      "Rounds are not told apart. A forked child is recorded once it executes a program. Behind a "
      "preloaded jemalloc, tcmalloc or mimalloc it does not see operator new.";
  entry.hides_allocator = true;
  entry.patience = 10;
  entry.works_here = heaptrack_works;
  entry.make = make_heaptrack;
  return entry;
}

TracerEntry gperftools_entry() {
  TracerEntry entry;
  entry.name = "gperftools";
  entry.summary = "every allocation by stack: live at ends of rounds and at exit, and allocated";
  entry.package = "libgoogle-perftools4";
  entry.limits = std::string(
                     "No peak. Up to version 2.15 a dump has room for 1 MiB, and what does not fit "
                     "is left out: the run warns of it. Forked children that execute nothing leave "
                     "nothing.") +
                 kNeedsAnEnd;
  entry.allocator = "tcmalloc";
  entry.dumps_rounds = true;
  entry.patience = 50;
  entry.works_here = gperftools_works;
  entry.make = make_gperftools;
  return entry;
}

TracerEntry jemalloc_entry() {
  TracerEntry entry;
  entry.name = "jemalloc";
  entry.summary = "samples by stack: live at ends of rounds and at exit, and allocated";
  entry.package = "libjemalloc2";
  entry.limits =
      std::string("No peak; bytes of jemalloc's size classes, not requested ones.") + kNeedsAnEnd;
  entry.allocator = "jemalloc";
  entry.samples = true;
  entry.dumps_rounds = true;
  entry.patience = 3;
  entry.works_here = jemalloc_works;
  entry.make = make_jemalloc;
  return entry;
}

}  // namespace

const std::vector<TracerEntry>& tracers() {
  static const std::vector<TracerEntry> table = {recorder_entry(), heaptrack_entry(),
                                                 gperftools_entry(), jemalloc_entry()};
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
  throw Error(ExitCode::usage, "there is no tracer \"" + name + "\"", {}, advice);
}

std::string obstacle_here(const TracerEntry& entry, const Availability& here) {
  if (here.works) return {};
  if (entry.package.empty()) return here.why;
  return fmt::format("{}; apt-get install {}", here.why, entry.package);
}

}  // namespace memduel
