#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "trial_processes.h"
#include "util/error.h"
#include "util/file.h"

namespace memduel {
namespace {

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
