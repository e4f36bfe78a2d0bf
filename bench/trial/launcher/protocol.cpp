#include "protocol.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace memduel {
namespace {

constexpr std::size_t kMaxDescriptors = 3;
using ControlBuffer = std::array<char, CMSG_SPACE(kMaxDescriptors * sizeof(int))>;

std::vector<std::string> split_fields(const std::string& bytes) {
  std::vector<std::string> fields;
  std::size_t begin = 0;
  for (std::size_t end = bytes.find('\0'); end != std::string::npos;
       begin = end + 1, end = bytes.find('\0', begin)) {
    fields.push_back(bytes.substr(begin, end - begin));
  }
  return fields;
}

std::vector<int> received_descriptors(msghdr& message) {
  std::vector<int> descriptors;
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr;
       header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    const std::size_t at = descriptors.size();
    descriptors.resize(at + count);
    std::memcpy(descriptors.data() + at, CMSG_DATA(header), count * sizeof(int));
  }
  return descriptors;
}

}  // namespace

int send_packet(int socket, const std::vector<std::string>& fields,
                const std::vector<int>& descriptors) {
  std::string bytes;
  for (const std::string& field : fields) bytes.append(field).push_back('\0');
  iovec data{bytes.data(), bytes.size()};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  alignas(cmsghdr) ControlBuffer control{};
  const std::size_t count = std::min(descriptors.size(), kMaxDescriptors);
  if (count > 0) {
    message.msg_control = control.data();
    message.msg_controllen = CMSG_SPACE(count * sizeof(int));
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(count * sizeof(int));
    std::memcpy(CMSG_DATA(header), descriptors.data(), count * sizeof(int));
  }
  ssize_t sent = 0;
  do {
    sent = sendmsg(socket, &message, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  return sent < 0 ? errno : 0;
}

std::optional<Packet> receive_packet(int socket) {
  ssize_t size = 0;
  do {
    size = recv(socket, nullptr, 0, MSG_PEEK | MSG_TRUNC);
  } while (size < 0 && errno == EINTR);
  if (size <= 0) return std::nullopt;
  std::string bytes(static_cast<std::size_t>(size), '\0');
  iovec data{bytes.data(), bytes.size()};
  alignas(cmsghdr) ControlBuffer control{};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  do {
    size = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  } while (size < 0 && errno == EINTR);
  if (size <= 0) return std::nullopt;
  return Packet{split_fields(bytes), received_descriptors(message)};
}

}  // namespace memduel
