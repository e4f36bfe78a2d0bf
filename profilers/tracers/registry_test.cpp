#include "profilers/tracers/registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/profile_name.h"

namespace memduel {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(TracerRegistry, HoldsTheRecorderAndThreeOfOtherTools) {
  std::vector<std::string> names;
  for (const TracerEntry& entry : tracers()) names.push_back(entry.name);
  EXPECT_THAT(names, ElementsAre("recorder", "heaptrack", "gperftools", "jemalloc"));
}

TEST(TracerRegistry, EveryRowIsComplete) {
  for (const TracerEntry& entry : tracers()) {
    EXPECT_FALSE(entry.summary.empty()) << entry.name;
    EXPECT_FALSE(entry.limits.empty()) << entry.name;
    EXPECT_EQ(entry.package.empty(), entry.name == kRecorderTracer) << entry.name;
    EXPECT_FALSE(profile_extension(entry.name).empty());
    EXPECT_GE(entry.patience, 1) << entry.name;
    EXPECT_NE(entry.make(), nullptr) << entry.name;
    const Availability here = entry.works_here();
    EXPECT_EQ(here.works, here.why.empty()) << entry.name;
    EXPECT_EQ(here.works, obstacle_here(entry, here).empty()) << entry.name;
  }
}

TEST(TracerRegistry, AllAreHereWhereSetupRan) {
  for (const TracerEntry& entry : tracers())
    EXPECT_TRUE(entry.works_here().works) << obstacle_here(entry, entry.works_here());
}

TEST(TracerRegistry, OneThatIsMissingIsNamedWithItsPackage) {
  EXPECT_EQ(obstacle_here(tracer_named("jemalloc"), {false, "libjemalloc.so.2 was not found"}),
            "libjemalloc.so.2 was not found; apt-get install libjemalloc2");
}

std::string refusal_of_tracer(const std::string& name) {
  try {
    tracer_named(name);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.message();
  }
  ADD_FAILURE() << "there is no such tracer";
  return {};
}

TEST(TracerRegistry, AnUnknownNameSuggestsTheNearest) {
  EXPECT_THAT(refusal_of_tracer("heaptrak"), HasSubstr("did you mean \"heaptrack\"?"));
}

TEST(TracerRegistry, ANameThatWasRemovedSaysWhatToUse) {
  EXPECT_THAT(refusal_of_tracer("massif"),
              HasSubstr("use recorder, heaptrack, gperftools or jemalloc"));
}

}  // namespace
}  // namespace memduel
