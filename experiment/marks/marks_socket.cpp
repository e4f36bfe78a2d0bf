#include "experiment/marks/marks_socket.h"

#include <sys/socket.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace memduel {

MarksSocket::MarksSocket() {
  std::array<int, 2> ends{};
  const int on = 1;
  struct stat about{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    throw Error(ExitCode::cannot_measure, "cannot make a socket for marks", std::strerror(errno));
  }
  local_ = Descriptor(ends[0]);
  remote_ = Descriptor(ends[1]);
  if (setsockopt(local_.get(), SOL_SOCKET, SO_PASSCRED, &on, sizeof on) != 0 ||
      fstat(remote_.get(), &about) != 0) {
    throw Error(ExitCode::cannot_measure, "cannot set up the socket for marks",
                std::strerror(errno));
  }
  // The default holds about 280 marks, and a process that finds it full waits for us.
  const int bytes = 1 << 20;
  if (setsockopt(remote_.get(), SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof bytes) != 0) {
    setsockopt(remote_.get(), SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
  }
  inode_ = about.st_ino;
}

std::optional<MarkBytes> MarksSocket::receive() {
  std::array<char, 4096> buffer{};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(ucred))> control{};
  iovec data{buffer.data(), buffer.size()};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  ssize_t got = 0;
  do {
    got = recvmsg(local_.get(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  if (got == 0 || (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK)) closed_ = true;
  if (got <= 0) return std::nullopt;
  MarkBytes piece{0, std::string(buffer.data(), static_cast<std::size_t>(got))};
  const cmsghdr* header = CMSG_FIRSTHDR(&message);
  if (header != nullptr && header->cmsg_type == SCM_CREDENTIALS) {
    ucred sender{};
    std::memcpy(&sender, CMSG_DATA(header), sizeof sender);
    piece.sender = sender.pid;
  }
  return piece;
}

}  // namespace memduel
