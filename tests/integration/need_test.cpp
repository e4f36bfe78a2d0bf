// memduel need on programs whose memory is known, under real limits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

#include "meters/cgroup.h"
#include "support/memduel_program.h"

namespace memduel {
namespace {

using testing::HasSubstr;

bool can_limit() {
  const TrialCgroup group = create_cgroup("need-test");
  const bool can = limit_cgroup(group, std::int64_t{1} << 30) == 0;
  remove_cgroup(group);
  return can;
}

TEST(Need, FindsTheLimitOfAProgramAndSaysItToSlurm) {
  if (!can_limit()) GTEST_SKIP() << "no control group can be made here";
  const Workplace place;
  const Finished run = memduel(place, {"need", "--slowdown", "200", "--confirm", "5", "--headroom",
                                       "0%", "--", MEMDUEL_HOG, "100"});
  ASSERT_EQ(run.status, 0) << run.err;
  std::smatch mebibytes;
  ASSERT_TRUE(std::regex_search(run.out, mebibytes, std::regex("--mem=(\\d+)M\n"))) << run.out;
  // Its 100 MiB, and what the C++ library and the program have, to within 2%.
  EXPECT_GE(std::stoi(mebibytes[1]), 100);
  EXPECT_LE(std::stoi(mebibytes[1]), 108);
  EXPECT_THAT(run.out, HasSubstr("killed for memory"));
  EXPECT_THAT(run.out, HasSubstr("failures at this limit: 0 of 5 trials"));
  EXPECT_EQ(run.out.find(std::string(MEMDUEL_HOG) + " 100: smallest memory limit "), 0U) << run.out;
  // Of the libraries only what the program writes is charged: the rest was read by others before.
  std::smatch peaks;
  ASSERT_TRUE(std::regex_search(
      run.out, peaks, std::regex("peak RSS ([0-9.]+) MiB, peak cgroup memory ([0-9.]+) MiB")))
      << run.out;
  EXPECT_GE(std::stod(peaks[2]), 100);
  EXPECT_LT(std::stod(peaks[2]) + 1, std::stod(peaks[1]));
}

// Beside its 100 MiB a process has the stack's guard, the heap's top and the libraries' data.
TEST(Need, WithoutAGroupLimitsEachProcess) {
  const Workplace place;
  const Finished run = memduel(place, {"need", "--limit", "process", "--slowdown", "200",
                                       "--confirm", "5", "--", MEMDUEL_HOG, "100"});
  ASSERT_EQ(run.status, 0) << run.err;
  std::smatch kibibytes;
  ASSERT_TRUE(std::regex_search(run.out, kibibytes, std::regex("ulimit -d (\\d+)\n"))) << run.out;
  EXPECT_GE(std::stoi(kibibytes[1]), 100 * 1024);
  EXPECT_LE(std::stoi(kibibytes[1]), 104 * 1024);
  const auto limited = [&](const std::string& limit) {
    return Running(place, "/bin/sh",
                   {"-c", "ulimit -d " + limit + "; exec \"$0\" 100", MEMDUEL_HOG})
        .wait()
        .status;
  };
  std::smatch mebibytes;
  ASSERT_TRUE(
      std::regex_search(run.out, mebibytes, std::regex("With 15% headroom[^=]*--mem=(\\d+)M\n")))
      << run.out;
  EXPECT_GE(std::stoi(mebibytes[1]), 115);
  EXPECT_LE(std::stoi(mebibytes[1]), 125);
  EXPECT_EQ(limited(kibibytes[1]), 0) << "the shell's own limit says the same";
  EXPECT_NE(limited(std::to_string(99 * 1024)), 0);
}

TEST(Need, RefusesHeadroomThatIsNoShareBeforeAnyTrial) {
  const Workplace place;
  const Finished run = memduel(place, {"need", "--headroom", "15", "--", "/bin/true"});
  EXPECT_EQ(run.status, 2);
  EXPECT_EQ(run.err,
            "memduel: --headroom: expected a share of at most 1000% such as 15%, found \"15\"\n");
}

TEST(Need, OfAProgramThatFailsAnywaySaysSo) {
  const Workplace place;
  const Finished run = memduel(place, {"need", "--", "/bin/false"});
  EXPECT_EQ(run.status, 3);
  EXPECT_THAT(run.err, HasSubstr("fails without a limit"));
}

TEST(Need, RefusesAnArmOfACommandAndAnArmThatIsNot) {
  const Workplace place;
  EXPECT_EQ(memduel(place, {"need", "--variant", "b", "--", "/bin/true"}).status, 2);
  const std::string config = place.file("duel.json", R"({
    "name": "duel", "workload": { "kind": "command", "processes": [
      { "role": "command", "argv": ["/bin/true"] } ] },
    "variants": [ { "name": "a" }, { "name": "b", "env": { "X": "1" } } ], "baseline": "a" })");
  const Finished run = memduel(place, {"need", config, "--variant", "c"});
  EXPECT_EQ(run.status, 2);
  EXPECT_THAT(run.err, HasSubstr("no variant \"c\""));
}

}  // namespace
}  // namespace memduel
