#include "workloads/transport/socket_frames.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/error.h"

namespace memduel {
namespace {

constexpr const char* kClosedWithin = "the peer closed within a message";

constexpr std::size_t kHeaderBytes = 5;

}  // namespace

Socket::Socket(Socket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

Socket::~Socket() {
  if (fd_ >= 0) ::close(fd_);
}

void Socket::shut_down() const noexcept {
  ::shutdown(fd_, SHUT_RDWR);
}

void Socket::set_deadline(double seconds) const {
  timeval limit{};
  limit.tv_sec = static_cast<time_t>(seconds);
  limit.tv_usec = static_cast<suseconds_t>((seconds - static_cast<double>(limit.tv_sec)) * 1e6);
  ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  ::setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
}

void Frames::expect_no_more_than_the_limit(std::size_t size) const {
  if (size > most_bytes_)
    throw Error(ExitCode::cannot_measure,
                fmt::format("a message of {} bytes exceeds the limit of {}", size, most_bytes_),
                peer_);
}

void Frames::send(char kind, std::span<const Segment> segments) {
  std::size_t size = 0;
  for (const Segment& segment : segments) size += segment.bytes.size();
  expect_no_more_than_the_limit(size);
  std::array<char, kHeaderBytes> header{kind};
  for (std::size_t i = 0; i < 4; ++i) header[1 + i] = static_cast<char>(size >> (8 * i) & 0xff);
  send_all({header.data(), header.size()});
  for (const Segment& segment : segments) send_all(segment.bytes);
}

std::optional<Frame> Frames::receive() {
  std::array<char, kHeaderBytes> header{};
  if (!receive_all(header.data(), header.size())) return std::nullopt;
  std::size_t size = 0;
  for (std::size_t i = 0; i < 4; ++i)
    size |= static_cast<std::size_t>(static_cast<std::uint8_t>(header[1 + i])) << (8 * i);
  expect_no_more_than_the_limit(size);
  Frame frame{header[0], std::string(size, '\0')};
  if (!receive_all(frame.bytes.data(), size)) throw PeerGone(kClosedWithin, peer_);
  return frame;
}

void Frames::send_all(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket_.fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) throw PeerGone(fmt::format("the peer is gone: {}", std::strerror(errno)), peer_);
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

bool Frames::receive_all(char* to, std::size_t size) {
  std::size_t done = 0;
  while (done < size) {
    const ssize_t got = ::recv(socket_.fd(), to + done, size - done, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw PeerGone(fmt::format("nothing received: {}", std::strerror(errno)), peer_);
    if (got == 0 && done == 0) return false;
    if (got == 0) throw PeerGone(kClosedWithin, peer_);
    done += static_cast<std::size_t>(got);
  }
  return true;
}

}  // namespace memduel
