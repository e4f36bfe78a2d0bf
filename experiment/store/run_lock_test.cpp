#include "experiment/store/run_lock.h"

#include <gtest/gtest.h>

#include <optional>

#include "experiment/config/test_support.h"

namespace memduel {
namespace {

using RunLockOf = TestFolder;

TEST_F(RunLockOf, ARunSaysThatItIsGoingOnAsLongAsItIsHeld) {
  EXPECT_FALSE(is_in_use(folder_)) << "no run has ever been here";
  std::optional<RunLock> lock(folder_);
  EXPECT_TRUE(is_in_use(folder_));
  EXPECT_TRUE(is_in_use(folder_)) << "looking takes nothing away";
  lock.reset();
  EXPECT_FALSE(is_in_use(folder_));
}

}  // namespace
}  // namespace memduel
