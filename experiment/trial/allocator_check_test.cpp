#include "experiment/trial/allocator_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace memduel {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Debian's only program that is always linked statically.
constexpr const char* kStatic = "/sbin/ldconfig";

const RequiredAllocator kJemalloc = {"jemalloc", "/usr/lib/x86_64-linux-gnu/libjemalloc.so.2", {}};
const RequiredAllocator kGlibc = {"glibc", {}, {}};

AllocatorFindings judge(const std::string& lines, const RequiredAllocator& required = kJemalloc,
                        const std::string& program = "/bin/sh") {
  return judge_allocator(required, {7, program, "/usr/sbin:/usr/bin:/sbin:/bin"},
                         read_witness_log(lines));
}

TEST(AllocatorVerdict, TheLastImageOfTheRoleIsVerifiedByItsOwnWord) {
  const AllocatorFindings findings = judge(
      "start 7 /lib/x86_64-linux-gnu/libjemalloc.so.2\t/usr/bin/env\nexec 7 kept /bin/true\n"
      "start 7 /lib/x86_64-linux-gnu/libjemalloc.so.2\t/usr/bin/true\n");
  EXPECT_EQ(findings.failure, "");
  EXPECT_EQ(findings.library, "/lib/x86_64-linux-gnu/libjemalloc.so.2");
}

TEST(AllocatorVerdict, NoWordAtAllIsAFailureWithTheReason) {
  EXPECT_EQ(judge("", kJemalloc, kStatic).failure,
            "did not run under jemalloc: /sbin/ldconfig: it is statically linked: nothing can be "
            "preloaded");
  EXPECT_EQ(
      judge("", kJemalloc, "ldconfig").failure,
      "did not run under jemalloc: ldconfig: it is statically linked: nothing can be preloaded");
  EXPECT_EQ(judge("", kJemalloc, "/bin/true").failure,
            "did not run under jemalloc: /bin/true never loaded what LD_PRELOAD names");
}

TEST(AllocatorVerdict, AShimThatCleansTheEnvironmentIsNamed) {
  EXPECT_EQ(judge("start 7 /usr/lib/x86_64-linux-gnu/libjemalloc.so.2\t/usr/bin/env\nexec 7 "
                  "cleaned /bin/true\n")
                .failure,
            "did not run under jemalloc: /bin/true: it was started without LD_PRELOAD or "
            "MEMDUEL_WITNESS in its "
            "environment");
  EXPECT_THAT(
      judge("start 7 /usr/lib/x86_64-linux-gnu/libjemalloc.so.2\t/bin/sh\nexec 8 cleaned true\n")
          .failure,
      HasSubstr("its descendant true: it was started without LD_PRELOAD"))
      << "which no shell needs to execute in its own place";
}

TEST(AllocatorVerdict, AnotherMallocIsAFailureWhoeverBringsIt) {
  const std::string own = "start 7 ./server\t/opt/server\n";
  EXPECT_EQ(judge(own).failure,
            "did not run under jemalloc: malloc of /opt/server comes from ./server");
  EXPECT_EQ(judge(own, kGlibc).failure,
            "did not run under glibc: malloc of /opt/server comes from ./server");
  const std::string preloaded = "start 7 /lib/libtcmalloc.so.4\t/bin/sh\n";
  EXPECT_EQ(judge(preloaded, kGlibc).failure,
            "did not run under glibc: malloc of /bin/sh comes from /lib/libtcmalloc.so.4");
  EXPECT_EQ(judge("start 7 /lib/x86_64-linux-gnu/libc.so.6\t/bin/sh\n", kGlibc).failure, "");
  EXPECT_THAT(judge("start 7 /usr/lib/x86_64-linux-gnu/libjemalloc.so.2\t/bin/sh\nstart 8 "
                    "/lib/libc.so.6\t/bin/x\n")
                  .failure,
              HasSubstr("malloc of its descendant /bin/x comes from /lib/libc.so.6"));
}

TEST(AllocatorVerdict, AHelperThatNothingCanEnterIsOnlySaid) {
  const AllocatorFindings findings = judge(
      "start 7 /usr/lib/x86_64-linux-gnu/libjemalloc.so.2\t/usr/bin/python3.11\n"
      "exec 8 kept /sbin/ldconfig\nexec 9 cleaned ldconfig\nexec 10 kept /sbin/ldconfig\n"
      "exec 11 kept /bin/true\n");
  EXPECT_EQ(findings.failure, "");
  EXPECT_THAT(findings.helpers,
              ElementsAre("/bin/true: it ended before it could load anything",
                          "/sbin/ldconfig: it is statically linked: nothing can be preloaded",
                          "ldconfig: it is statically linked: nothing can be preloaded"));
}

constexpr const char* kMaps =
    "5581a000-5581b000 r--p 00000000 fe:00 1  /usr/bin/true\n"
    "7f00a000-7f00b000 rw-p 00000000 00:00 0 \n"
    "7f00c000-7f00d000 r-xp 00002000 fe:00 2  /usr/lib/x86_64-linux-gnu/libjemalloc.so.2\n"
    "7f00e000-7f00f000 r-xp 00002000 fe:00 3  /usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2\n"
    "7ffc0000-7ffc1000 r-xp 00000000 00:00 0  [vdso]\n";

TEST(MapsLibrary, GoesByTheNameOfTheFile) {
  EXPECT_EQ(maps_library(kMaps, "/lib/x86_64-linux-gnu/libjemalloc.so.2"), true);
  EXPECT_EQ(maps_library(kMaps, "/lib/x86_64-linux-gnu/libtcmalloc.so.4"), false);
  EXPECT_EQ(maps_library(kMaps, {}), true);
  EXPECT_EQ(
      maps_library(
          "5581a000-5581b000 r--p 0 fe:00 1  /usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2\n", {}),
      true);
  EXPECT_EQ(maps_library("5581a000-5581b000 r--p 00000000 fe:00 1  /sbin/ldconfig\n", {}), false);
  EXPECT_EQ(maps_library("", {}), std::nullopt);
}

TEST(AllocatorWatch, ComplainsOfAProcessThatGoesWithoutForAWhile) {
  AllocatorWatch watch;
  for (int look = 1; look < AllocatorWatch::kPatience; ++look)
    EXPECT_EQ(watch.look(getpid(), kJemalloc), std::nullopt) << look;
  const auto complaint = watch.look(getpid(), kJemalloc);
  ASSERT_TRUE(complaint);
  EXPECT_THAT(*complaint, HasSubstr("has not mapped /usr/lib/x86_64-linux-gnu/libjemalloc.so.2"));
}

TEST(AllocatorWatch, IsContentWithWhatIsMapped) {
  AllocatorWatch watch;
  for (int look = 0; look < 3 * AllocatorWatch::kPatience; ++look)
    EXPECT_EQ(watch.look(getpid(), kGlibc), std::nullopt);
}

TEST(AllocatorWatch, LooksEachQuarterOfASecond) {
  AllocatorWatch watch;
  EXPECT_TRUE(watch.due(1'000'000'000));
  EXPECT_FALSE(watch.due(1'200'000'000));
  EXPECT_TRUE(watch.due(1'250'000'000));
}

}  // namespace
}  // namespace memduel
