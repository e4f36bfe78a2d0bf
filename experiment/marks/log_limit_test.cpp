#include "experiment/marks/log_limit.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <fstream>

#include "base/file.h"
#include "base/scratch_directory.h"

namespace memduel {
namespace {

constexpr std::int64_t kLimit = 1 << 20;

class LimitedLog : public testing::Test {
 protected:
  LimitedLog() { std::ofstream{log_}; }

  /// Numbered lines of 64 bytes.
  void write_lines(int count) {
    std::ofstream log(log_, std::ios::app);
    for (int i = 0; i < count; ++i) {
      const std::string number = std::to_string(next_++);
      log << number << std::string(63 - number.size(), '.') << "\n";
    }
  }
  std::int64_t bytes_on_disk() const {
    struct stat about{};
    stat(log_.c_str(), &about);
    return about.st_blocks * 512;
  }

  ScratchDirectory scratch_{testing::TempDir(), "log_limit"};
  std::filesystem::path log_ = scratch_.path() / "log";
  LogLimit limit_{log_, kLimit};
  int next_ = 0;
};

TEST_F(LimitedLog, ASmallLogStaysAsItIs) {
  write_lines(1000);
  limit_.check();
  EXPECT_EQ(limit_.finish(), 0);
  EXPECT_EQ(read_file(log_).size(), 64'000U);
}

TEST_F(LimitedLog, TheMiddleOfAGrowingLogIsFreedAndOffsetsStay) {
  for (int step = 0; step < 40; ++step) {
    write_lines(4096);  // 256 KiB
    limit_.check();
    EXPECT_LE(bytes_on_disk(), kLimit + (256 << 10));
  }
  EXPECT_EQ(std::filesystem::file_size(log_), 40U * 4096 * 64);
  write_lines(1);
  EXPECT_THAT(read_file(log_), testing::EndsWith("163840" + std::string(57, '.') + "\n"));
}

TEST_F(LimitedLog, BeginAndEndAreKeptWithALineThatSaysWhatIsMissing) {
  for (int step = 0; step < 40; ++step) {
    write_lines(4096);
    limit_.check();
  }
  const std::int64_t dropped = limit_.finish();
  const std::string text = read_file(log_);
  const std::string line =
      "[memduel dropped " + std::to_string(dropped) + " bytes of this log here]\n";
  EXPECT_THAT(text, testing::StartsWith("0..."));
  EXPECT_THAT(text, testing::EndsWith("163839" + std::string(57, '.') + "\n"));
  EXPECT_THAT(text, testing::HasSubstr("\n" + line));
  EXPECT_EQ(static_cast<std::int64_t>(text.size() - line.size()) + dropped, 40 * 4096 * 64);
  EXPECT_LE(text.size(), kLimit / 2 + line.size());
  EXPECT_EQ(text.find('\0'), std::string::npos) << "nothing of the hole is left";
}

TEST_F(LimitedLog, OneEndlessLineIsBoundedToo) {
  std::ofstream(log_) << std::string(3 * kLimit, 'x');
  limit_.check();
  EXPECT_GT(limit_.finish(), 0);
  EXPECT_LE(read_file(log_).size(), kLimit);
}

}  // namespace
}  // namespace memduel
