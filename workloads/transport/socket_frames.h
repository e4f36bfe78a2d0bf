// Messages on a stream socket: a frame is a letter that says what it is, its length in four bytes,
// the lowest first, and its bytes.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "workloads/transport/call.h"

namespace memduel {

class Socket {
 public:
  explicit Socket(int fd) : fd_(fd) {}
  Socket(Socket&& other) noexcept;
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  Socket& operator=(Socket&&) = delete;
  ~Socket();

  [[nodiscard]] int fd() const { return fd_; }
  void shut_down() const noexcept;
  /// Of every single send and receive.
  void set_deadline(double seconds) const;

 private:
  int fd_;
};

struct Frame {
  char kind = 0;
  std::string bytes;
};

/// Sends and receives frames on one connection. Throws PeerGone where that breaks,
/// Error(cannot_measure) on a frame of more than `most_bytes`.
class Frames {
 public:
  Frames(Socket socket, std::size_t most_bytes, std::string peer)
      : socket_(std::move(socket)), most_bytes_(most_bytes), peer_(std::move(peer)) {}

  void send(char kind, std::span<const Segment> segments);

  /// Absent when the peer closed between two frames.
  std::optional<Frame> receive();

  void shut_down() const noexcept { socket_.shut_down(); }
  void set_deadline(double seconds) const { socket_.set_deadline(seconds); }
  [[nodiscard]] const std::string& peer() const { return peer_; }

 private:
  void expect_no_more_than_the_limit(std::size_t size) const;
  void send_all(std::string_view bytes);
  /// False when the peer closed before the first byte.
  bool receive_all(char* to, std::size_t size);

  Socket socket_;
  std::size_t most_bytes_;
  std::string peer_;
};

}  // namespace memduel
