#include "allocator_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
            "did not run under jemalloc: /bin/true did not load the library in LD_PRELOAD");
}

TEST(AllocatorVerdict, AShimThatCleansTheEnvironmentIsNamed) {
  EXPECT_EQ(judge("start 7 /usr/lib/x86_64-linux-gnu/libjemalloc.so.2\t/usr/bin/env\nexec 7 "
                  "cleaned /bin/true\n")
                .failure,
            "did not run under jemalloc: /bin/true: LD_PRELOAD or MEMDUEL_WITNESS was removed from "
            "its environment");
  EXPECT_THAT(
      judge("start 7 /usr/lib/x86_64-linux-gnu/libjemalloc.so.2\t/bin/sh\nexec 8 cleaned true\n")
          .failure,
      HasSubstr("its descendant true: LD_PRELOAD or MEMDUEL_WITNESS was removed"))
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
              ElementsAre("/bin/true did not load the library in LD_PRELOAD",
                          "/sbin/ldconfig: it is statically linked: nothing can be preloaded",
                          "ldconfig: it is statically linked: nothing can be preloaded"));
}

}  // namespace
}  // namespace memduel
