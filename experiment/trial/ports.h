// TCP ports of this machine: which are free, who listens on one. Never connects to any: a server
// that counts its clients takes every connection for one.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace memduel {

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

}  // namespace memduel
