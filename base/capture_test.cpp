#include "base/capture.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace memduel {
namespace {

Error refusal(const std::vector<std::string>& argv, const CaptureOptions& options = {}) {
  try {
    capture(argv, options);
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "expected an Error";
  return {ExitCode::ok, ""};
}

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
  const Error error = refusal({"/nowhere/program"});
  EXPECT_EQ(error.code(), ExitCode::io);
  EXPECT_EQ(error.message(), "/nowhere/program: cannot start: No such file or directory");
}

TEST(Capture, AProgramThatDoesNotEndIsKilled) {
  CaptureOptions options;
  options.within_seconds = 0.2;
  EXPECT_EQ(refusal({"sleep", "600"}, options).code(), ExitCode::cannot_measure);
}

TEST(Capture, AProgramThatPrintsWithoutEndIsKilled) {
  EXPECT_EQ(refusal({"cat", "/dev/zero"}).code(), ExitCode::cannot_measure);
}

TEST(Capture, AProgramReadsItsInputInItsDirectory) {
  CaptureOptions options;
  options.input = std::string(300000, 'x');
  options.directory = "/usr";
  const Captured done = capture({"sh", "-c", "pwd; wc -c"}, options);
  EXPECT_EQ(done.out, "/usr\n300000\n");
}

TEST(Capture, AProgramThatReadsNothingOfItsInputEndsAsIfItHad) {
  CaptureOptions options;
  options.input = std::string(300000, 'x');
  EXPECT_EQ(capture({"true"}, options).exit_status, 0);
}

TEST(Capture, ADirectoryThatIsNotThereIsAnIoError) {
  CaptureOptions options;
  options.directory = "/nowhere";
  EXPECT_EQ(refusal({"true"}, options).code(), ExitCode::io);
}

}  // namespace
}  // namespace memduel
