// What each tracer makes of a process that is to be started.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "profilers/profile/capture/preload.h"
#include "profilers/tracers/preloaded.h"
#include "profilers/tracers/registry.h"

namespace memduel {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TracedStart start_of(const std::string& tracer, const EnvironmentVariables& environment = {},
                     const TracerOptions& options = {}) {
  return tracer_named(tracer).make()->start("/run/a trial", environment, options);
}

TEST(TracedStart, AnArmsOwnPreloadsStayBehindTheTracers) {
  const EnvironmentVariables arm = {{"LD_PRELOAD", "/opt/theirs.so"}};
  for (const TracerEntry& entry : tracers()) {
    const std::string preload = start_of(entry.name, arm).environment.at("LD_PRELOAD");
    const bool own = entry.name == "recorder";
    EXPECT_THAT(preload, StartsWith(own ? recorder_library().string() : dump_library().string()));
    EXPECT_THAT(preload, EndsWith(":/opt/theirs.so")) << entry.name;
    EXPECT_THAT(start_of(entry.name).environment.at("LD_PRELOAD"), Not(EndsWith(":")));
  }
}

TEST(TracedStart, TheRecorderIsInNoOtherTracersProcess) {
  for (const TracerEntry& entry : tracers()) {
    if (entry.name == "recorder") continue;
    const auto variables = start_of(entry.name).environment;
    EXPECT_EQ(variables.at("MEMDUEL_TRACER"), entry.name);
    EXPECT_EQ(variables.at("MEMDUEL_TRACER_DIR"), "/run/a trial");
    EXPECT_FALSE(variables.contains("MEMDUEL_RECORDER_DIR")) << entry.name;
    EXPECT_THAT(variables.at("LD_PRELOAD"), Not(HasSubstr("recorder"))) << entry.name;
  }
}

TEST(TracedStart, OnlyMassifWrapsTheCommand) {
  for (const TracerEntry& entry : tracers())
    EXPECT_EQ(start_of(entry.name).wrapper.empty(), entry.name != "massif") << entry.name;
  EXPECT_THAT(start_of("massif").wrapper,
              ElementsAre(EndsWith("/valgrind"), "-q", "--tool=massif", "--trace-children=yes",
                          "--massif-out-file=/run/a trial/0-%p"));
  const auto escaped = tracer_named("massif").make()->start("/run/50%p", {}, {}).wrapper;
  EXPECT_EQ(escaped.back(), "--massif-out-file=/run/50%%p/0-%p");
}

TEST(TracedStart, HeaptrackWritesATraceForEveryProcess) {
  const auto variables = start_of("heaptrack").environment;
  EXPECT_EQ(variables.at("DUMP_HEAPTRACK_OUTPUT"), "/run/a trial/0-$$");
  EXPECT_THAT(variables.at("LD_PRELOAD"), EndsWith("/libheaptrack_preload.so"));
  EXPECT_EQ(variables.at("MEMDUEL_TRACER_PRELOAD"), variables.at("LD_PRELOAD"));
}

TEST(TracedStart, GperftoolsDumpsOnlyWhenItIsTold) {
  const auto variables = start_of("gperftools").environment;
  EXPECT_EQ(variables.at("HEAP_PROFILE_ALLOCATION_INTERVAL"), "0");
  EXPECT_EQ(variables.at("HEAP_PROFILE_INUSE_INTERVAL"), "0");
  EXPECT_FALSE(variables.contains("HEAPPROFILE"));
  EXPECT_THAT(start_of("gperftools-cpu").environment.at("LD_PRELOAD"), HasSubstr("libprofiler"));
}

TEST(TracedStart, JemallocSamplesAsItIsToldAndKeepsTheArmsSettings) {
  EXPECT_EQ(start_of("jemalloc").environment.at("MALLOC_CONF"),
            "prof:true,prof_active:true,prof_accum:true,lg_prof_sample:19");
  EXPECT_EQ(start_of("jemalloc", {{"MALLOC_CONF", "narenas:1"}}, {1024, false})
                .environment.at("MALLOC_CONF"),
            "narenas:1,prof:true,prof_active:true,prof_accum:true,lg_prof_sample:10");
  EXPECT_THAT(start_of("jemalloc", {}, {1024, true}).environment.at("MALLOC_CONF"),
              EndsWith("lg_prof_sample:0"));
  EXPECT_THROW(start_of("jemalloc", {}, {1000, false}), Error) << "no power of two";
}

}  // namespace
}  // namespace memduel
