#include "experiment/plan/capture.h"

#include <gtest/gtest.h>

#include "experiment/config/test_support.h"

namespace memduel {
namespace {

TEST(Capture, BothStreamsAndTheStatusAreRead) {
  const Captured done = capture({"sh", "-c", "echo out; echo err >&2; exit 7"});
  EXPECT_EQ(done.out, "out\n");
  EXPECT_EQ(done.err, "err\n");
  EXPECT_EQ(done.exit_status, 7);
}

TEST(Capture, MoreThanAPipeHoldsIsRead) {
  const Captured done =
      capture({"sh", "-c", "head -c 300000 /dev/zero; head -c 300000 /dev/zero >&2"});
  EXPECT_EQ(done.out.size(), 300000U);
  EXPECT_EQ(done.err.size(), 300000U);
}

TEST(Capture, ASignalIs128AndItsNumber) {
  EXPECT_EQ(capture({"sh", "-c", "kill -9 $$"}).exit_status, 137);
}

TEST(Capture, AProgramThatIsNotThereIsAnIoError) {
  const Error error = error_of([] { capture({"/nowhere/program"}); });
  EXPECT_EQ(error.code(), ExitCode::io);
  EXPECT_EQ(error.message(), "/nowhere/program: cannot start: No such file or directory");
}

TEST(Capture, AProgramThatDoesNotEndIsKilled) {
  const Error error = error_of([] { capture({"sleep", "600"}, 0.2); });
  EXPECT_EQ(error.code(), ExitCode::cannot_measure);
}

}  // namespace
}  // namespace memduel
