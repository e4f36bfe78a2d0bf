// One watch while it goes on: a single-threaded loop over samples, marks and ends.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "experiment/marks/copied_logs.h"
#include "experiment/marks/log_limit.h"
#include "experiment/marks/text_marks.h"
#include "experiment/store/store.h"
#include "experiment/trial/pace.h"
#include "experiment/trial/role_memory.h"
#include "experiment/watch/watch.h"
#include "experiment/watch/watch_signals.h"
#include "experiment/watch/watched_command.h"
#include "experiment/watch/watched_role.h"
#include "experiment/watch/watched_rounds.h"
#include "experiment/watch/watched_tree.h"
#include "memory/memory_alarm.h"
#include "memory/memory_limit.h"
#include "profilers/meters/procfs_meter.h"

namespace memduel {

class Watching {
 public:
  explicit Watching(const WatchOptions& options);
  WatchResult run();

 private:
  struct Root {
    pid_t pid = 0;
    std::string name;  ///< for people: "pid 812 (python3 train.py)"
    WatchedRole role;
    RoleMemory memory;
    ThinnedSeries pss;
    std::vector<RoundData> pending;  ///< rounds that are not in the store yet
    std::optional<ExitRecord> exit;
    bool ended = false;
  };

  // The loop: watching.cpp
  void step();
  [[nodiscard]] bool over() const;
  void listen(int descriptor, std::uint32_t source) const;
  void listen_once(int operation, int descriptor, std::uint32_t source) const;
  [[nodiscard]] std::int64_t texts_due() const;
  [[nodiscard]] std::int64_t next_due() const;
  void wait_for_events(std::int64_t until_ns);
  void take_signals();
  void end_at_signal(int number);
  void look(std::int64_t now);
  void finish();

  // Who is watched: watching_roots.cpp
  void add_root(const ProcessLine& process, const std::string& role, const std::string& name);
  void start_command();
  void find_pids();
  void check_roots();
  void end_root(Root& root, const std::optional<ExitRecord>& exit, bool well);
  void command_ended(const ExitRecord& exit);
  void find_members(std::int64_t now);

  // What is measured: watching_metering.cpp
  [[nodiscard]] std::int64_t until_next_sample(std::int64_t now) const;
  void sample(std::int64_t now);
  void sweep(std::int64_t now);
  void check_limit();
  void take_marks();
  void take_lines(const std::vector<MarkedLine>& lines);
  void give(Root& root, const Mark& mark, const MarkSizes& sizes);
  void give_whole(const Mark& mark, const MarkSizes& sizes, const MeterReading& reading);
  MeterReading counters_at(const Mark& mark, const std::string& role);
  void gather_rounds();

  // What it leaves: watching_report.cpp
  [[nodiscard]] WatchSnapshot snapshot() const;
  [[nodiscard]] TrialData trial();
  [[nodiscard]] RoleData role_data(const WatchedRole& role, const ThinnedSeries& pss,
                                   std::vector<RoundData>& pending) const;
  void store_when_due(std::int64_t now);
  void note_everything();
  void note_text_marks();
  void note_meters();
  void limit_logs();
  void finish_logs();
  void say(const std::string& sentence) const;

  const WatchOptions& options_;
  TrialPlan plan_;  ///< the logs and their patterns
  std::int64_t begin_ns_;
  std::int64_t end_ns_ = 0;
  WatchSignals signals_;
  Store store_;
  std::optional<TextMarks> text_marks_;
  std::optional<WatchedCommand> command_;
  std::optional<CopiedLogs> copied_;
  std::vector<LogLimit> log_limits_;
  Descriptor poll_;
  WatchedTree tree_;
  ProcfsMeter meter_;
  std::deque<Root> roots_;
  std::string what_;  ///< is watched, for people
  WatchedRole whole_;
  ThinnedSeries whole_pss_;
  std::vector<RoundData> whole_pending_;
  WatchedRounds round_ends_;
  std::optional<MemoryLimit> limit_;
  std::optional<std::int64_t> used_bytes_;
  MemoryAlarm alarm_;
  CostlyReadings scans_;
  CostlyReadings sweeps_;
  CostlyReadings counters_;
  std::optional<std::int64_t> pss_bytes_;
  std::int64_t pss_read_ns_ = 0;
  std::int64_t peak_rss_bytes_ = 0;
  std::optional<std::int64_t> oom_kills_before_;
  std::int64_t sample_due_ns_;
  std::int64_t look_due_ns_;
  std::int64_t sweep_due_ns_;
  std::int64_t store_due_ns_;
  std::int64_t show_due_ns_ = 0;
  std::int64_t texts_read_ns_ = 0;
  bool texts_changed_ = false;
  int ended_by_signal_ = 0;
  std::size_t descendants_left_ = 0;  ///< when the command ended
  bool command_was_killed_for_memory_ = false;
  bool sweep_was_late_ = false;
  bool pss_missing_ = false;
  std::int64_t samples_ = 0;
  int alarms_ = 0;
};

}  // namespace memduel
