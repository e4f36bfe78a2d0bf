#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trial/processes.h"

namespace memduel {
namespace {

TEST(DescendantsOf, FollowsDeadParentsAndLeavesThemOut) {
  const std::vector<ProcessLine> processes = {{1, 0, 'S'},   {10, 1, 'S'},  {11, 10, 'Z'},
                                              {12, 11, 'S'}, {13, 10, 'R'}, {20, 1, 'S'}};
  EXPECT_THAT(descendants_of(10, processes), testing::UnorderedElementsAre(12, 13));
  EXPECT_THAT(descendants_of(20, processes), testing::IsEmpty());
}

/// A child that has one of its own, both until this process closes the pipe.
TEST(DescendantsOf, AreFoundByTheListsOfChildrenAsInAllOfProc) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    close(ends[1]);
    fork();
    char byte = 0;
    _exit(read(ends[0], &byte, 1) == 0 ? 0 : 1);
  }
  close(ends[0]);
  std::vector<pid_t> found;
  for (int look = 0; look < 500 && found.size() < 2; ++look) {
    usleep(10'000);
    found = descendants_of(getpid());
  }
  EXPECT_THAT(found, testing::SizeIs(2));
  EXPECT_THAT(found, testing::Contains(child));
  EXPECT_THAT(descendants_of(getpid(), all_processes()), testing::UnorderedElementsAreArray(found));
  close(ends[1]);
  waitpid(child, nullptr, 0);
}

TEST(MarkedProcesses, AreNoneWhereNoTrialHasTheName) {
  EXPECT_TRUE(marked_processes("no trial has this name", all_processes()).empty());
}

}  // namespace
}  // namespace memduel
