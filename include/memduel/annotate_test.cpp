// What annotate.h writes to the socket, and that it stays silent where nobody listens. The second
// translation unit, in C, shares its state.
#include "memduel/annotate.h"

#include <gmock/gmock.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <limits>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

extern "C" void mark_from_c(void);

namespace {

constexpr long kMib = 1 << 20;

/// The environment of one listener; the library's state is started anew for each test.
class Annotate : public testing::Test {
 protected:
  Annotate() {
    memduel_annotate_v1 = {};
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends_) != 0) throw std::runtime_error("socketpair");
    setenv("MEMDUEL_MARKS_FD", std::to_string(ends_[1]).c_str(), 1);
    unsetenv("MEMDUEL_MARKS_INODE");
  }
  ~Annotate() override {
    close(ends_[0]);
    close(ends_[1]);
    unsetenv("MEMDUEL_MARKS_FD");
  }

  /// The words of every line that was sent so far.
  std::vector<std::vector<std::string>> lines() {
    std::vector<std::vector<std::string>> all;
    char buffer[65536];
    const ssize_t got = recv(ends_[0], buffer, sizeof buffer, MSG_DONTWAIT);
    std::istringstream text(std::string(buffer, static_cast<std::size_t>(got < 0 ? 0 : got)));
    for (std::string line; std::getline(text, line);) {
      std::istringstream words(line);
      std::vector<std::string> split;
      for (std::string word; words >> word;) split.push_back(word);
      all.push_back(split);
    }
    return all;
  }

  int ends_[2] = {};
};

TEST_F(Annotate, SendsOneLineForEachMark) {
  memduel_idle();
  memduel_round_begin(3);
  memduel_phase("train");
  memduel_gauge("train_loss", 0.5);
  memduel_phase(nullptr);
  memduel_round_end(3);
  const auto sent = lines();
  ASSERT_EQ(sent.size(), 7U);
  EXPECT_EQ(sent[0], (std::vector<std::string>{"start", std::to_string(getpid())}));
  EXPECT_EQ(sent[1].size(), 6U);
  EXPECT_EQ(sent[1][0], "idle");
  EXPECT_EQ(sent[2][0], "round_begin");
  EXPECT_EQ(sent[2][2], "3");
  EXPECT_EQ(sent[2].size(), 7U);
  EXPECT_EQ(sent[3][2], "train");
  EXPECT_EQ(sent[4][0], "gauge");
  EXPECT_EQ(sent[4][3], "0x10000000000000p-53");
  EXPECT_EQ(sent[5][2], "-");
  EXPECT_EQ(sent[6][0], "round_end");
}

TEST_F(Annotate, APeakIsThatOfTheStretchThatTheMarkEnds) {
  memduel_idle();
  void* block =
      mmap(nullptr, 32 * kMib, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memset(block, 1, 32 * kMib);
  munmap(block, 32 * kMib);
  memduel_phase("after");
  memduel_phase("later");
  const auto sent = lines();
  const long idle = std::stol(sent[1][3]);
  const long touched = std::stol(sent[2][3]);
  const long later = std::stol(sent[3][3]);
  EXPECT_NEAR(static_cast<double>(touched - idle), 32.0 * kMib, kMib);
  EXPECT_NEAR(static_cast<double>(later - idle), 0, kMib);
}

TEST_F(Annotate, NamesAreOneWordWithinTheLine) {
  memduel_phase("two words\nand a line");
  memduel_phase("");
  memduel_phase("-");
  memduel_phase(std::string(500, 'x').c_str());
  memduel_gauge("a metric", 1);
  const auto sent = lines();
  EXPECT_EQ(sent[1][2], "two_words_and_a_line");
  EXPECT_EQ(sent[2][2], "_");
  EXPECT_EQ(sent[3][2], "_");
  EXPECT_EQ(sent[4][2], std::string(64, 'x'));
  EXPECT_EQ(sent[5][2], "a_metric");
}

TEST_F(Annotate, AGaugeDeclaresWhichValuesAreBetterIfItIsTold) {
  memduel_gauge("plain", 1);
  memduel_gauge_better("loss", 1, MEMDUEL_LOWER_IS_BETTER);
  memduel_gauge_better("throughput", 0.5, MEMDUEL_HIGHER_IS_BETTER);
  memduel_gauge_better(std::string(500, 'x').c_str(), -1e300, MEMDUEL_HIGHER_IS_BETTER);
  const auto sent = lines();
  ASSERT_EQ(sent.size(), 5U);
  EXPECT_EQ(sent[1].size(), 4U);
  EXPECT_EQ(sent[2].back(), "lower");
  EXPECT_EQ(sent[3].back(), "higher");
  ASSERT_EQ(sent[4].size(), 5U) << "the longest line";
  EXPECT_EQ(sent[4].back(), "higher");
}

TEST_F(Annotate, GaugesAreExactAndNeverInfinite) {
  const std::vector<double> values = {0,      -1,     9007199254740992.0, 0.1, -1e300,
                                      5e-324, 1e-310, 12345.6789};
  memduel_gauge("x", std::numeric_limits<double>::infinity());
  memduel_gauge("x", std::numeric_limits<double>::quiet_NaN());
  for (const double value : values) memduel_gauge("x", value);
  const auto sent = lines();
  ASSERT_EQ(sent.size(), values.size() + 1);
  for (std::size_t at = 0; at < values.size(); ++at) {
    EXPECT_EQ(strtod(sent[at + 1][3].c_str(), nullptr), values[at]);
  }
}

TEST_F(Annotate, ATranslationUnitInCSharesTheState) {
  memduel_idle();
  mark_from_c();
  const auto sent = lines();
  ASSERT_EQ(sent.size(), 3U);
  EXPECT_EQ(sent[2][2], "from_c");
}

TEST_F(Annotate, ErrnoIsKept) {
  errno = 4711;
  memduel_idle();
  memduel_gauge("x", 1);
  EXPECT_EQ(errno, 4711);
  close(ends_[0]);
  memduel_phase("nobody reads");
  EXPECT_EQ(errno, 4711);
  ends_[0] = -1;
}

TEST_F(Annotate, AListenerThatIsGoneEndsTheSendingWithoutSigpipe) {
  memduel_idle();
  close(ends_[0]);
  memduel_round_begin(1);
  EXPECT_EQ(memduel_annotate_v1.mode, MEMDUEL_ANNOTATE_OFF);
  ends_[0] = -1;
}

TEST_F(Annotate, AForkedChildIsSilent) {
  memduel_idle();
  const pid_t child = fork();
  if (child == 0) {
    memduel_round_begin(9);
    memduel_gauge("x", 1);
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  EXPECT_EQ(lines().size(), 2U);
}

TEST_F(Annotate, AChildOfAProcessThatNeverMarkedSpeaksForItself) {
  const pid_t child = fork();
  if (child == 0) {
    memduel_idle();
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  EXPECT_EQ(lines().at(0).at(1), std::to_string(child));
}

TEST_F(Annotate, AReusedDescriptorNumberIsLeftAlone) {
  setenv("MEMDUEL_MARKS_INODE", "1", 1);
  memduel_idle();
  EXPECT_TRUE(lines().empty());
  EXPECT_EQ(memduel_annotate_v1.mode, MEMDUEL_ANNOTATE_OFF);
}

TEST_F(Annotate, WithoutAUsableDescriptorNothingHappens) {
  for (const char* text : {"", "x", "-1", "99999", "1x", "4294967297"}) {
    memduel_annotate_v1 = {};
    setenv("MEMDUEL_MARKS_FD", text, 1);
    memduel_idle();
    EXPECT_EQ(memduel_annotate_v1.mode, MEMDUEL_ANNOTATE_OFF) << text;
  }
  memduel_annotate_v1 = {};
  unsetenv("MEMDUEL_MARKS_FD");
  memduel_round_begin(1);
  memduel_gauge("x", 1);
  EXPECT_EQ(memduel_annotate_v1.mode, MEMDUEL_ANNOTATE_OFF);
}

TEST_F(Annotate, ThreadsMayMarkAtTheSameTime) {
  constexpr int kMarks = 40;  // all fit into the socket, which nobody reads meanwhile
  auto work = [](void*) -> void* {
    for (int at = 0; at < kMarks; ++at) memduel_gauge("x", at);
    return nullptr;
  };
  std::vector<pthread_t> threads(4);
  for (pthread_t& thread : threads) pthread_create(&thread, nullptr, work, nullptr);
  for (const pthread_t thread : threads) pthread_join(thread, nullptr);
  std::size_t gauges = 0;
  for (auto sent = lines(); !sent.empty(); sent = lines()) {
    for (const auto& line : sent) {
      if (line[0] != "gauge") continue;
      EXPECT_EQ(line.size(), 4U);
      ++gauges;
    }
  }
  EXPECT_EQ(gauges, threads.size() * kMarks);
}

}  // namespace
