// Processes of this machine: who is running (/proc), who listens on a TCP port, the names by which
// a trial's processes are found, and what a memduel that was killed left behind. The launcher
// includes this: no dependency but the C++ library.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "memory/proc_files.h"
#include "meters/cgroup.h"
#include "util/clock.h"

namespace memduel {

/// How a process ended, from wait4.
struct ExitRecord {
  std::int64_t t_ns = 0;
  std::optional<int> status;  ///< absent when ended by a signal
  std::optional<int> signal;
  double cpu_seconds = 0;
  std::int64_t max_rss_bytes = 0;  ///< of the process and of children it waited for; 0: not known
  std::int64_t minor_faults = 0;
  std::int64_t major_faults = 0;
};

/// User and system time.
double cpu_seconds_of(const rusage& usage);
std::int64_t max_rss_bytes_of(const rusage& usage);
/// Of a process that wait4 has just told of, with its status.
ExitRecord exit_record_of(int status, const rusage& usage);

/// Children of `root`, their children and so on, dead ones left out.
std::vector<pid_t> descendants_of(pid_t root, const std::vector<ProcessLine>& processes);

/// The same of those that run now, by what the kernel lists of each thread's children
/// (CONFIG_PROC_CHILDREN), else by all of /proc.
std::vector<pid_t> descendants_of(pid_t root);

/// Living processes whose MEMDUEL_TRIAL is `trial`.
std::vector<pid_t> marked_processes(const std::string& trial,
                                    const std::vector<ProcessLine>& processes);

// TCP ports. Nothing here connects to one: a server that counts its clients takes every connection
// for one.

/// Inodes of the sockets that listen on `port` in the text of /proc/net/tcp or tcp6.
std::vector<std::uint64_t> listening_sockets(std::string_view table, int port);

/// The same as the kernel says now.
std::vector<std::uint64_t> listening_sockets(int port);

/// Whether `pid` holds one of the sockets.
bool holds_socket(pid_t pid, const std::vector<std::uint64_t>& inodes);

/// Who listens on `port`, for people: "process 812 (python3 server.py)", or "another user's
/// process"; nothing when nobody does.
std::optional<std::string> listener_on(int port);

/// A port on which nobody listens, on any address, outside the range that the system takes for
/// outgoing connections: there a client's own connection may take it first. Five digits. Throws
/// Error(cannot_measure) when there is none.
int free_port();

/// Every process of a trial carries this environment variable; its value names the trial.
inline constexpr const char* kTrialVariable = "MEMDUEL_TRIAL";
/// ... and this one, whose value is the role of the process that it descends from.
inline constexpr const char* kRoleVariable = "MEMDUEL_ROLE";
/// Where a process finds its marks socket; far from the numbers that programs and shells count on.
inline constexpr int kMarksDescriptor = 100;

/// In the environment of a build: the session that it runs in. A process that left it is a server
/// that outlives builds on purpose (of a compiler cache, of a build system) and is nobody's
/// leftover.
inline constexpr const char* kBuildSessionVariable = "MEMDUEL_BUILD_SESSION";

/// BOOT-NAMESPACE-USER-PID-START-CLOCK-ID of the calling process; START distinguishes processes
/// that had the same PID. The name is unique across containers and machines. USER identifies the
/// user and the cache directory ($XDG_CACHE_HOME). Memduels that share both end each other's
/// leftovers; no other memduel on the machine does. CLOCK and ID have a fixed number of digits:
/// shells copy their environment to the heap, and its size must not differ from trial to trial.
std::string unique_trial_name(std::int64_t id);

/// Whether the memduel that gave this name has ended. Returns false for any other text, and for a
/// name of another user, cache directory, machine, boot or PID namespace.
bool owner_has_ended(std::string_view name);

/// A launcher ends a trial's processes when memduel is gone, but both can be killed at once, and
/// builds have no launcher.
struct Leftovers {
  std::vector<pid_t> processes;      ///< of trials and builds whose memduel has ended
  std::vector<TrialCgroup> cgroups;  ///< of such trials

  [[nodiscard]] bool empty() const { return processes.empty() && cgroups.empty(); }
};

/// Finds processes whose environment can be read and cgroups below the caller's own, if their
/// memduel had the caller's user, cache directory and PID namespace.
Leftovers find_leftovers();

/// "2 processes (sleep, cc1plus) and 1 control group".
std::string describe_leftovers(const Leftovers& leftovers);

/// Kills the processes and removes the groups.
void end_leftovers(const Leftovers& leftovers);

}  // namespace memduel
