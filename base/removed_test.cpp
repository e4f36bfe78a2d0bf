#include "base/removed.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace memduel {
namespace {

TEST(ReplacementFor, IsOfWordsThatWereRemovedAlone) {
  EXPECT_EQ(replacement_for("--retry-on-regress"),
            "it was removed: measure more blocks, --repeats N");
  EXPECT_FALSE(replacement_for("--repeats"));
  EXPECT_FALSE(replacement_for(""));
}

TEST(ReplacementFor, IsTheAdviceInPlaceOfTheNearestName) {
  EXPECT_EQ(nearest_advice("gperftools-cpu", {"gperftools"}),
            "it was removed: memduel measures memory; perf records CPU time");
  EXPECT_EQ(nearest_advice("gperftool", {"gperftools"}), "did you mean \"gperftools\"?");
}

}  // namespace
}  // namespace memduel
