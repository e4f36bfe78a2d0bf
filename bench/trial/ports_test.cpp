#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "trial/processes.h"
#include "util/file.h"

namespace memduel {
namespace {

// Copied from a machine with a server on 127.0.0.1:8080 (1F90), sshd on port 22 and a connection.
constexpr const char* kTable =
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout "
    "inode\n"
    "   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 "
    "41233 1 0000000000000000 100 0 0 10 0\n"
    "   1: 00000000:0016 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 "
    "17002 1 0000000000000000 100 0 0 10 0\n"
    "   2: 0100007F:1F90 0100007F:D2C8 01 00000000:00000000 00:00000000 00000000     0        0 "
    "41299 1 0000000000000000 20 4 30 10 -1\n";

TEST(ListeningSockets, FindsListenersOfThePortAndNoConnections) {
  EXPECT_THAT(listening_sockets(kTable, 8080), testing::ElementsAre(41233));
  EXPECT_THAT(listening_sockets(kTable, 22), testing::ElementsAre(17002));
  EXPECT_THAT(listening_sockets(kTable, 53960), testing::IsEmpty());
}

TEST(ListeningSockets, ReadsAddressesOfVersionSix) {
  EXPECT_THAT(listening_sockets("   0: 00000000000000000000000000000000:1F90 "
                                "00000000000000000000000000000000:0000 0A 00000000:00000000 "
                                "00:00000000 00000000     0        0 55 1 0 100 0 0 10 0",
                                8080),
              testing::ElementsAre(55));
}

TEST(ListeningSockets, SurvivesCutAndForeignText) {
  const std::string table = kTable;
  for (std::size_t length = 0; length < table.size(); ++length) {
    EXPECT_LE(listening_sockets(table.substr(0, length), 8080).size(), 1U);
  }
  EXPECT_THAT(listening_sockets("a b c 0A\n\n: : 0 0A 0 0 0 0 0 x\n", 8080), testing::IsEmpty());
}

/// A socket that listens on `port` of every address of version six.
Descriptor listen_on(int port) {
  Descriptor server(socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_port = htons(static_cast<std::uint16_t>(port));
  if (bind(server.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
      listen(server.get(), 1) != 0)
    server.reset();
  return server;
}

TEST(Ports, AFreeOneHasFiveDigitsAndNoListener) {
  for (int i = 0; i < 20; ++i) {
    const int port = free_port();
    EXPECT_GE(port, 10'000);
    EXPECT_LE(port, 65'535);
    EXPECT_FALSE(listener_on(port));
  }
}

TEST(Ports, WhoListensIsNamed) {
  const int port = free_port();
  const Descriptor server = listen_on(port);
  if (!server) return;  // no version six here
  EXPECT_THAT(listener_on(port).value_or(""),
              testing::StartsWith("process " + std::to_string(getpid()) + " ("));
  EXPECT_TRUE(holds_socket(getpid(), listening_sockets(port)));
  EXPECT_EQ(listening_sockets(port), listening_sockets(read_file("/proc/net/tcp6"), port));
}

}  // namespace
}  // namespace memduel
