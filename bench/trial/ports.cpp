#include <arpa/inet.h>
#include <dirent.h>
#include <fmt/format.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <memory>
#include <random>

#include "trial/processes.h"
#include "util/error.h"
#include "util/file.h"

namespace memduel {
namespace {

std::vector<std::string_view> split_words(std::string_view line) {
  std::vector<std::string_view> words;
  while (true) {
    const std::size_t begin = line.find_first_not_of(' ');
    if (begin == std::string_view::npos) return words;
    line.remove_prefix(begin);
    const std::size_t end = std::min(line.find(' '), line.size());
    words.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
}

template <typename Number>
std::optional<Number> number(std::string_view word, int base) {
  Number value{};
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value, base);
  if (error != std::errc{} || end != word.data() + word.size()) return std::nullopt;
  return value;
}

/// The kernel's table as it is now; a system without IPv6 has no tcp6.
std::string socket_table(const char* path) {
  try {
    return read_file(path);
  } catch (const Error&) {
    return {};
  }
}

/// Adds the inodes of a family's sockets that listen on `port`; false where the kernel does not say
/// (sock_diag(7)).
bool add_listeners(std::uint8_t family, int port, std::vector<std::uint64_t>& inodes) {
  const Descriptor netlink(::socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG));
  struct {
    nlmsghdr header;
    inet_diag_req_v2 asked;
  } request{};
  request.header.nlmsg_len = sizeof request;
  request.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  request.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
  request.asked.sdiag_family = family;
  request.asked.sdiag_protocol = IPPROTO_TCP;
  request.asked.idiag_states = 1U << TCP_LISTEN;
  if (!netlink || ::send(netlink.get(), &request, sizeof request, 0) < 0) return false;
  alignas(nlmsghdr) std::array<char, 16384> answer;
  while (true) {
    const ssize_t got = ::recv(netlink.get(), answer.data(), answer.size(), 0);
    if (got <= 0) return false;
    auto left = static_cast<std::uint32_t>(got);
    const auto* message = reinterpret_cast<const nlmsghdr*>(answer.data());
    for (; NLMSG_OK(message, left); message = NLMSG_NEXT(message, left)) {
      if (message->nlmsg_type == NLMSG_DONE) return true;
      if (message->nlmsg_type == NLMSG_ERROR) return false;
      const auto* socket = static_cast<const inet_diag_msg*>(NLMSG_DATA(message));
      if (ntohs(socket->id.idiag_sport) == port) inodes.push_back(socket->idiag_inode);
    }
  }
}

template <typename Address>
bool can_bind(const Descriptor& descriptor, const Address& address) {
  return descriptor &&
         ::bind(descriptor.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

/// Bound to every address: fails when anybody has the port on any of them.
bool is_free(int port) {
  const Descriptor any(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_ANY);
  return can_bind(any, address) && listening_sockets(port).empty();
}

/// First port that the system gives to outgoing connections.
int first_outgoing_port() {
  constexpr int kUsual = 32768;
  int first = kUsual;
  std::ifstream("/proc/sys/net/ipv4/ip_local_port_range") >> first;
  return first;
}

}  // namespace

std::vector<std::uint64_t> listening_sockets(std::string_view table, int port) {
  std::vector<std::uint64_t> inodes;
  while (!table.empty()) {
    const std::size_t newline = std::min(table.find('\n'), table.size());
    const auto words = split_words(table.substr(0, newline));
    table.remove_prefix(std::min(newline + 1, table.size()));
    // sl local_address rem_address st … inode at the tenth place; 0A is LISTEN.
    if (words.size() < 10 || words[3] != "0A") continue;
    const std::size_t colon = words[1].rfind(':');
    if (colon == std::string_view::npos) continue;
    if (number<int>(words[1].substr(colon + 1), 16) != port) continue;
    if (const auto inode = number<std::uint64_t>(words[9], 10)) inodes.push_back(*inode);
  }
  return inodes;
}

std::vector<std::uint64_t> listening_sockets(int port) {
  std::vector<std::uint64_t> inodes;
  // The tables have a place for every connection, and reading one may take milliseconds.
  if (add_listeners(AF_INET, port, inodes)) {
    add_listeners(AF_INET6, port, inodes);
    return inodes;
  }
  for (const char* path : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    const auto more = listening_sockets(socket_table(path), port);
    inodes.insert(inodes.end(), more.begin(), more.end());
  }
  return inodes;
}

bool holds_socket(pid_t pid, const std::vector<std::uint64_t>& inodes) {
  const std::string directory = fmt::format("/proc/{}/fd", pid);
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(opendir(directory.c_str()), closedir);
  if (!entries) return false;
  while (const dirent* entry = readdir(entries.get())) {
    std::array<char, 64> target{};
    const ssize_t length =
        readlinkat(dirfd(entries.get()), entry->d_name, target.data(), target.size());
    if (length <= 0) continue;
    const std::string_view text(target.data(), static_cast<std::size_t>(length));
    if (!text.starts_with("socket:[") || !text.ends_with("]")) continue;
    const auto inode = number<std::uint64_t>(text.substr(8, text.size() - 9), 10);
    if (inode && std::ranges::find(inodes, *inode) != inodes.end()) return true;
  }
  return false;
}

std::optional<std::string> listener_on(int port) {
  const auto inodes = listening_sockets(port);
  if (inodes.empty()) return std::nullopt;
  for (const ProcessLine& process : all_processes()) {
    if (holds_socket(process.pid, inodes)) {
      return fmt::format("process {} ({})", process.pid, command_of(process.pid));
    }
  }
  return "another user's process";
}

int free_port() {
  constexpr int kLowest = 10'000;
  constexpr int kHighest = 65'535;
  const int outgoing = first_outgoing_port();
  // A system that takes nearly all ports for outgoing connections leaves no better choice.
  constexpr int kEnough = 1000;
  const int highest = outgoing >= kLowest + kEnough ? outgoing - 1 : kHighest;
  std::random_device seed;
  std::uniform_int_distribution<int> any(kLowest, highest);
  constexpr int kTries = 1000;
  for (int tried = 0; tried < kTries; ++tried) {
    if (const int port = any(seed); is_free(port)) return port;
  }
  throw Error(ExitCode::cannot_measure, fmt::format("found no free port among {} between {} and {}",
                                                    kTries, kLowest, highest));
}

}  // namespace memduel
