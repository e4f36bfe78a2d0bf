#include "model/removed.h"

#include <gtest/gtest.h>

namespace memduel {
namespace {

TEST(ReplacementFor, IsOfWhatWasRemovedAlone) {
  EXPECT_EQ(replacement_for(Removed::option, "--retry-on-regress"),
            "it was removed: measure more trials with --repeats N");
  EXPECT_EQ(replacement_for(Removed::tracer, "massif"),
            "it was removed: use recorder, heaptrack, gperftools or jemalloc");
  EXPECT_EQ(replacement_for(Removed::option, "compare --no-default-gates"),
            "compare judges the default gates only with --gate default");
  EXPECT_FALSE(replacement_for(Removed::option, "--no-default-gates")) << "run has it";
  EXPECT_FALSE(replacement_for(Removed::option, "--repeats"));
  EXPECT_FALSE(replacement_for(Removed::option, "--candidate")) << "ablate has it";
  EXPECT_FALSE(replacement_for(Removed::verb, "massif")) << "a program memduel-massif may be one";
  EXPECT_FALSE(replacement_for(Removed::verb, ""));
}

}  // namespace
}  // namespace memduel
