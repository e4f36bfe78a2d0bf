#include "workloads/optimizations/arenas.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace memduel {
namespace {

TEST(ChooseArenas, RefusesWhatIsNoNumberFromOne) {
  EXPECT_EQ(choose_arenas("arenas", "default", "default"), std::nullopt);
  EXPECT_EQ(choose_arenas("arenas", "default", 4), 4);
  for (const nlohmann::json& value : {nlohmann::json(0), nlohmann::json("two")}) {
    try {
      static_cast<void>(choose_arenas("arenas", "default", value));
      FAIL() << "accepted " << value;
    } catch (const Error& error) {
      EXPECT_THAT(error.message(), ::testing::HasSubstr("optimizations.arenas"));
      EXPECT_THAT(error.message(), ::testing::HasSubstr(value.dump()));
    }
  }
}

}  // namespace
}  // namespace memduel
