// One watch while it goes on: a single-threaded loop over samples, marks and ends.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "experiment/trial/events.h"
#include "experiment/watch/limit_watch.h"
#include "experiment/watch/watch.h"
#include "experiment/watch/watch_header.h"
#include "experiment/watch/watch_logs.h"
#include "experiment/watch/watch_metering.h"
#include "experiment/watch/watch_record.h"
#include "experiment/watch/watch_signals.h"
#include "experiment/watch/watch_time.h"
#include "experiment/watch/watched_command.h"
#include "experiment/watch/watched_roots.h"

namespace memduel {

/// It owns what it is made of and passes on what happens; what is known goes to the store now and
/// then, so that a watch that is cut off is there as far as it went.
class Watching {
 public:
  /// `options` must outlive this.
  explicit Watching(const WatchOptions& options);
  WatchResult run();

 private:
  void start_command();
  void step();
  void take_events(std::int64_t until_ns);
  void take_signals();
  void take_lines(const std::vector<MarkedLine>& lines);
  void look(std::int64_t now_ns);
  void note_gone_roots();
  void note_new_programs();
  void command_ended(const ExitRecord& exit);
  void finish();
  void note_everything();
  [[nodiscard]] WatchSnapshot snapshot() const;

  const WatchOptions& options_;
  WatchTime time_;
  std::int64_t end_ns_ = 0;
  std::optional<std::int64_t> oom_kills_before_;
  WatchSignals signals_;
  WatchRecord record_;
  Events events_;
  WatchLogs logs_;
  std::optional<WatchedCommand> command_;
  WatchedRoots roots_;
  WatchMetering metering_;
  LimitWatch limit_;
  std::vector<WatchTarget> targets_;  ///< as they are now
  std::int64_t look_due_ns_;
  std::int64_t store_due_ns_;
  std::int64_t show_due_ns_ = 0;
  int ended_by_signal_ = 0;
  std::size_t descendants_left_ = 0;  ///< when the command ended
  int alarms_ = 0;
};

}  // namespace memduel
