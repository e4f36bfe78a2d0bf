#include "experiment/watch/watch_record.h"

#include <utility>

#include "experiment/marks/monotonic.h"

namespace memduel {

WatchRecord::WatchRecord(const WatchOptions& options, const std::optional<MemoryLimit>& limit,
                         std::int64_t begin_ns)
    : store_(
          Store::create(options.directory, watch_header(options, watch_targets(options), limit))),
      begin_ns_(begin_ns) {}

void WatchRecord::rename(const WatchOptions& options, const std::vector<WatchTarget>& targets) {
  store_.replace_config(watch_config(options, targets));
}

void WatchRecord::add(const std::vector<Note>& limitations, const std::vector<Note>& warnings) {
  for (const Note& note : limitations) store_.add_limitation(note);
  for (const Note& note : warnings) store_.add_warning(note);
}

void WatchRecord::grow(std::vector<RoleData> roles, std::int64_t now_ns) {
  TrialData data;
  data.id = 1;
  data.block = 1;
  data.arm = kWatchArm;
  data.status = killed_for_memory_ ? TrialStatus::killed_for_memory : TrialStatus::ok;
  if (killed_for_memory_) data.failure = "the command was killed for memory";
  data.begin_ns = begin_ns_;
  data.end_ns = now_ns;
  data.harness_cpu_seconds = static_cast<double>(clock_ns(CLOCK_PROCESS_CPUTIME_ID)) * 1e-9;
  for (RoleData& role : roles) data.roles.push_back(std::move(role));
  store_.grow_trial(data);
}

}  // namespace memduel
