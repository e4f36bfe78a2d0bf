#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trial/processes.h"

namespace memduel {
namespace {

TEST(ParseProcessLine, TakesNamesWithSpacesAndParentheses) {
  const auto line = parse_process_line("4711 (a) S) b) R 12 4711 0 0 -1");
  ASSERT_TRUE(line.has_value());
  EXPECT_EQ(line->pid, 4711);
  EXPECT_EQ(line->state, 'R');
  EXPECT_EQ(line->parent, 12);
  EXPECT_FALSE(line->started.has_value());
  for (const char* text : {"", "4711", "4711 (x)", "4711 (x) ", "4711 (x) S", "x (x) S 1"}) {
    EXPECT_FALSE(parse_process_line(text).has_value()) << text;
  }
}

TEST(ParseProcessLine, TellsWhenAProcessStarted) {
  const auto line = parse_process_line(
      "7 (a b) S 1 7 7 0 -1 4194560 100 200 3 4 50 60 70 80 20 0 1 0 987654 1000 2000");
  ASSERT_TRUE(line.has_value());
  EXPECT_EQ(line->started, 987654U);
  EXPECT_TRUE(process_line(getpid())->started.has_value());
}

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

TEST(ProcessTree, FindsThisProcess) {
  const auto processes = all_processes();
  EXPECT_THAT(processes, testing::Contains(testing::Field(&ProcessLine::pid, getpid())));
  EXPECT_FALSE(command_of(getpid()).empty());
  EXPECT_FALSE(environment_of(getpid(), "MEMDUEL_NO_SUCH_VARIABLE").has_value());
  EXPECT_TRUE(marked_processes("no trial has this name", processes).empty());
}

}  // namespace
}  // namespace memduel
