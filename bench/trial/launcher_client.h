// memduel's side of the launcher: starts it, sends its requests, reads its reports as values, and
// cleans up in its place should it be lost.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "launcher/protocol.h"
#include "meters/cgroup.h"
#include "util/file.h"

namespace memduel {

/// The launcher of one trial, and what cleans up in its place.
class LauncherClient {
 public:
  /// Starts `program` and waits until it is ready. Throws Error(cannot_measure) when it does not
  /// come up.
  LauncherClient(const std::filesystem::path& program, const std::string& trial);
  /// Leaves no process of the trial behind, whatever happened before.
  ~LauncherClient();
  LauncherClient(const LauncherClient&) = delete;
  LauncherClient& operator=(const LauncherClient&) = delete;

  [[nodiscard]] int descriptor() const { return control_.get(); }
  [[nodiscard]] const TrialCgroup& cgroup() const { return cgroup_; }
  /// The trial's processes that live; this must outlive who asks.
  /// Absent once the trial is over.
  [[nodiscard]] std::optional<std::vector<pid_t>> living() const;

  /// Sends a request; returns 0 or an errno value.
  int request(const std::vector<std::string>& fields, const std::vector<int>& descriptors = {});
  void signal(const std::string& role, int number);
  /// Lets each process that is spawned from now on map at most so many bytes for itself alone.
  void limit_data(std::int64_t bytes);
  /// Also where no request can be sent: a closed connection says the same.
  void ask_to_end();

  /// The next report; nothing when the launcher is gone.
  std::optional<Packet> report();

  /// Waits for a report; nothing when none came in time or the launcher is gone. One that is
  /// stopped meanwhile is killed.
  std::optional<Packet> report_within(std::chrono::milliseconds limit);

  /// A launcher that somebody has stopped (SIGSTOP) tells of no end and hears of none: one that has
  /// been for so long is killed, which the next report says. Looks once a second.
  void kill_if_stopped_for(double patience_ns, std::int64_t now_ns);

  /// It has said that it is done. @param nobody_left so that nobody needs to be looked for.
  void ended(bool nobody_left);
  /// It is done, or lost: there is nothing more to ask of it.
  [[nodiscard]] bool is_over() const { return over_; }

 private:
  [[nodiscard]] bool is_stopped() const;
  void kill_launcher() const;
  void kill_what_is_left() const;

  std::string trial_;
  Descriptor control_;
  pid_t pid_ = 0;
  TrialCgroup cgroup_;
  bool over_ = false;
  bool is_ending_ = false;
  bool nobody_left_ = false;
  std::int64_t look_due_ns_ = 0;
  std::int64_t stopped_since_ns_ = 0;
};

using LauncherReport = std::variant<Spawned, Unstarted, Exited, Reaped, Escaped, LauncherEnded>;

/// Nothing for a packet that is none of these.
inline std::optional<LauncherReport> read_report(const std::vector<std::string>& fields) {
  return message_in<Spawned, Unstarted, Exited, Reaped, Escaped, LauncherEnded>(fields);
}

}  // namespace memduel
