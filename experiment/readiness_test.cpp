#include "experiment/readiness.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "base/scratch_directory.h"

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

class ReadinessOfLogs : public testing::Test {
 protected:
  ReadinessOfLogs() { std::ofstream{log_}; }
  void append(const std::string& text) const { std::ofstream(log_, std::ios::app) << text; }
  ScratchDirectory scratch_{testing::TempDir(), "readiness"};
  std::filesystem::path log_ = scratch_.path() / "log";
};

TEST_F(ReadinessOfLogs, AMatchMayArriveInPieces) {
  Ready ready;
  ready.log_pattern = "server (is )?listening on \\d+$";
  Readiness readiness(ready, {log_});
  append("starting\nserver is liste");
  EXPECT_FALSE(readiness.met(1, {}));
  append("ning on 80");
  EXPECT_TRUE(readiness.met(2, {}));
}

TEST_F(ReadinessOfLogs, APatternDoesNotMatchOverLineEnds) {
  Ready ready;
  ready.log_pattern = "server.*ready";
  Readiness readiness(ready, {log_});
  append("server\nready\n");
  EXPECT_FALSE(readiness.met(1, {}));
}

TEST_F(ReadinessOfLogs, ADelayCountsFromTheCondition) {
  Ready ready;
  ready.log_pattern = "up";
  ready.delay_seconds = 2;
  Readiness readiness(ready, {log_});
  EXPECT_FALSE(readiness.met(10'000'000'000, {}));
  append("up\n");
  EXPECT_FALSE(readiness.met(20'000'000'000, {}));
  EXPECT_FALSE(readiness.met(21'900'000'000, {}));
  EXPECT_TRUE(readiness.met(22'000'000'000, {}));
}

TEST_F(ReadinessOfLogs, ABadPatternNamesItsPosition) {
  Ready ready;
  ready.log_pattern = "round (\\d+";
  try {
    const Readiness readiness(ready, {log_});
    ADD_FAILURE() << "not a regular expression";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    EXPECT_THAT(error.message(), testing::HasSubstr("at character 11"));
  }
}

}  // namespace
}  // namespace memduel
