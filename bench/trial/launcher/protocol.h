// The words between memduel and memduel-launcher: one packet per request or report over an AF_UNIX
// SOCK_SEQPACKET socket. A packet is a list of text fields, the first one its name.
//
//   requests  spawn ROLE CWD ARGC ARG… NAME=VALUE…   with descriptors stdout, stderr[, marks]
//             signal ROLE NUMBER
//             limit_data BYTES                       of each process that is spawned from now on
//             end
//   reports   ready MEMORY_CGROUP KILL_CGROUP        empty where none could be made
//             spawned ROLE PID BEGIN_NS
//             unstarted ROLE STEP ERRNO              STEP: what failed, for people
//             exited ROLE code|signal VALUE CPU_US MAX_RSS_KIB MINOR MAJOR END_NS
//             reaped PID MAX_RSS_KIB                 another process, whose parent was gone
//             escaped PID COMMAND                    carried the trial's mark outside its tree
//             ended CPU_US LEFT_OVER SURVIVORS PEAK_BYTES OOM_KILLS     "-" where unknown
//
// BEGIN_NS and END_NS are CLOCK_MONOTONIC, read beside the process: memduel may be late to look.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace memduel {

/// A step of `unstarted`.
inline constexpr const char* kEnteringDirectory = "entering the working directory";

struct Packet {
  std::vector<std::string> fields;
  std::vector<int> descriptors;  ///< owned by the receiver
};

/// Sends one packet. Returns 0 or an errno value (EMSGSIZE: the command line is too long).
int send_packet(int socket, const std::vector<std::string>& fields,
                const std::vector<int>& descriptors = {});

/// Waits for one packet; nothing when the other side is gone.
std::optional<Packet> receive_packet(int socket);

}  // namespace memduel
