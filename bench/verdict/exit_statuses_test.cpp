#include <gtest/gtest.h>

#include "support/synthetic_run.h"
#include "verdict/questions.h"

namespace memduel {
namespace {

TEST(AcceptedExitStatuses, AreNamedWithTheirTrials) {
  Results results;
  for (const char* name : {"a", "b"}) results.arms.emplace_back().name = name;
  for (int block = 1; block <= 3; ++block)
    for (const char* name : {"a", "b"})
      results.trials.push_back(make_trial(name, block, "command", {}));
  EXPECT_TRUE(accepted_exit_statuses(results).empty());
  results.trials[1].roles[0].exit_status = 3;  // of b
  results.trials[3].roles[0].exit_status = 4;
  const std::vector<Note> notes = accepted_exit_statuses(results);
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_EQ(notes[0].message,
            "b exited with status 3, 4 in 2 of 3 trials, which counts as success");
}

}  // namespace
}  // namespace memduel
