#include "protocol.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <stdexcept>

namespace memduel {
namespace {

class Protocol : public testing::Test {
 protected:
  Protocol() {
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends_.data()) != 0) {
      throw std::runtime_error("socketpair");
    }
  }
  ~Protocol() override {
    for (const int end : ends_) close(end);
  }
  std::array<int, 2> ends_{};
};

TEST_F(Protocol, FieldsArriveAsTheyWere) {
  const std::vector<std::string> fields = {"spawn", "", "a b\n\"c\"", std::string(60'000, 'x'), ""};
  ASSERT_EQ(send_packet(ends_[0], fields), 0);
  ASSERT_EQ(send_packet(ends_[0], {"end"}), 0);
  EXPECT_EQ(receive_packet(ends_[1])->fields, fields);
  EXPECT_EQ(receive_packet(ends_[1])->fields, std::vector<std::string>{"end"});
}

TEST_F(Protocol, DescriptorsArriveUsableAndCloseOnExec) {
  std::array<int, 2> pipe_ends{};
  ASSERT_EQ(pipe(pipe_ends.data()), 0);
  ASSERT_EQ(send_packet(ends_[0], {"spawn"}, {pipe_ends[1]}), 0);
  close(pipe_ends[1]);
  const auto packet = receive_packet(ends_[1]);
  ASSERT_EQ(packet->descriptors.size(), 1U);
  EXPECT_EQ(fcntl(packet->descriptors[0], F_GETFD), FD_CLOEXEC);
  EXPECT_EQ(write(packet->descriptors[0], "x", 1), 1);
  char byte = 0;
  EXPECT_EQ(read(pipe_ends[0], &byte, 1), 1);
  EXPECT_EQ(byte, 'x');
  close(packet->descriptors[0]);
  close(pipe_ends[0]);
}

TEST_F(Protocol, AClosedSocketIsNoPacket) {
  shutdown(ends_[0], SHUT_RDWR);
  EXPECT_FALSE(receive_packet(ends_[1]).has_value());
  EXPECT_EQ(send_packet(ends_[0], {"end"}), EPIPE);
}

TEST_F(Protocol, APacketThatIsTooLongIsAnError) {
  EXPECT_EQ(send_packet(ends_[0], {std::string(64 << 20, 'x')}), EMSGSIZE);
}

}  // namespace
}  // namespace memduel
