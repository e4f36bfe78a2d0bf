#include "copied_logs.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <array>
#include <fstream>

#include "trial/processes.h"
#include "util/file.h"

namespace memduel {
namespace {

class CopiedLogsTest : public testing::Test {
 protected:
  CopiedLogsTest() { append(""); }
  void append(const std::string& text) const {
    std::ofstream(path(), std::ios::app | std::ios::binary) << text;
  }
  [[nodiscard]] std::filesystem::path path() const { return scratch_.path() / "log"; }

  ScratchDirectory scratch_{testing::TempDir(), "copied_logs"};
  std::string copied_;
};

TEST_F(CopiedLogsTest, PassesOnEveryByteAsItIsWritten) {
  const Descriptor nowhere(open("/dev/null", O_WRONLY | O_CLOEXEC));
  CopiedLogs logs({{path(), nowhere.get()}},
                  [this](int, std::string_view bytes) { copied_ += bytes; });
  logs.copy(monotonic_ns());
  EXPECT_EQ(copied_, "");
  append("Round 1\rRound");
  pollfd changed{logs.descriptor(), POLLIN, 0};
  ASSERT_EQ(poll(&changed, 1, 5000), 1);
  logs.changed();
  logs.copy(logs.due_ns());
  EXPECT_EQ(copied_, "Round 1\rRound");
  const std::string much(3'000'000, 'x');
  append(much);
  logs.finish();
  EXPECT_EQ(copied_, "Round 1\rRound" + much);
}

TEST_F(CopiedLogsTest, DoesNotWaitForAReaderThatIsSlow) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK), 0);
  const Descriptor reader(ends[0]);
  const Descriptor writer(ends[1]);
  std::size_t written = 0;
  CopiedLogs logs({{path(), writer.get()}}, [&](int target, std::string_view bytes) {
    const ssize_t wrote = write(target, bytes.data(), bytes.size());
    ASSERT_EQ(wrote, static_cast<ssize_t>(bytes.size())) << "a blocking pipe would have waited";
    written += bytes.size();
  });
  append(std::string(1'000'000, 'y'));
  logs.changed();
  logs.copy(logs.due_ns());
  EXPECT_GT(written, 0U);
  EXPECT_LT(written, 1'000'000U) << "the pipe is full";
  EXPECT_LT(logs.due_ns(), INT64_MAX) << "it is tried again";
}

}  // namespace
}  // namespace memduel
