#include "external/profile_names.h"

#include <gtest/gtest.h>

namespace memduel {
namespace {

TEST(ProfileName, IsWhatItWasWrittenAs) {
  for (const char* file :
       {"7-server.mdp", "7-client-1.2.mdp", "12-command.heaptrack.zst", "3-a.b.jemalloc.heap",
        "7-server.round3.gperftools.heap", "7-client-1.2.round10.jemalloc.heap"}) {
    const auto name = profile_name_from(file);
    ASSERT_TRUE(name.has_value()) << file;
    EXPECT_EQ(to_text(*name), file);
  }
  const auto name = profile_name_from("7-client-1.2.round10.jemalloc.heap");
  EXPECT_EQ(name->trial, 7);
  EXPECT_EQ(name->role, "client-1");
  EXPECT_EQ(name->image, 2U);
  EXPECT_EQ(name->round, 10);
  EXPECT_EQ(name->tracer, "jemalloc");
}

TEST(ProfileName, OtherFilesHaveNone) {
  for (const char* file : {"", "7", "server.mdp", "7-server", "7-.mdp", "7-.2.mdp", "x-server.mdp",
                           "-7-server.mdp", "7-server.html", "mdp", ".mdp", "$(reboot).mdp"})
    EXPECT_FALSE(profile_name_from(file).has_value()) << file;
}

TEST(ProfileName, LaterFilesStandBesideTheFirst) {
  EXPECT_EQ(profile_beside("out/a.mdp", "recorder", 1, {}), "out/a.mdp");
  EXPECT_EQ(profile_beside("out/a.mdp", "recorder", 2, {}), "out/a.2.mdp");
  EXPECT_EQ(profile_beside("a.heaptrack.zst", "heaptrack", 3, {}), "a.3.heaptrack.zst");
  EXPECT_EQ(profile_beside("b.dump", "jemalloc", 1, 4), "b.round4.dump");
  EXPECT_EQ(profile_beside("plain", "heaptrack", 2, 4), "plain.2.round4");
}

}  // namespace
}  // namespace memduel
