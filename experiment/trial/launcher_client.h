// memduel's side of the launcher: starts it, talks to it, and cleans up in its place should it be
// lost.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "experiment/trial/launcher/protocol.h"
#include "profilers/meters/cgroup.h"

namespace memduel {

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
  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] const TrialCgroup& cgroup() const { return cgroup_; }

  /// Somebody has stopped it (SIGSTOP), so that it answers nothing.
  [[nodiscard]] bool is_stopped() const;

  /// Its death is what the next report says.
  void kill_launcher() const;

  /// The launcher has said that it left nobody behind, so that nobody needs to be looked for.
  void ended_in_order() { ended_in_order_ = true; }

  /// Sends a request; returns 0 or an errno value.
  int request(const std::vector<std::string>& fields, const std::vector<int>& descriptors = {});

  /// The next report; nothing when the launcher is gone.
  std::optional<Packet> report();

  /// Waits for a report; nothing when none came in time or the launcher is gone. One that is
  /// stopped meanwhile is killed.
  std::optional<Packet> report_within(std::chrono::milliseconds limit);

 private:
  void kill_what_is_left() const;

  std::string trial_;
  Descriptor control_;
  pid_t pid_ = 0;
  TrialCgroup cgroup_;
  bool ended_in_order_ = false;
};

}  // namespace memduel
