#include "external/tracers.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "external/preloaded.h"
#include "model/run_directory.h"
#include "profile/recording.h"
#include "util/error.h"
#include "util/file.h"
#include "util/process.h"

namespace memduel {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(TracerRegistry, EveryRowIsComplete) {
  for (const TracerEntry& entry : tracers()) {
    EXPECT_FALSE(entry.summary.empty()) << entry.name;
    EXPECT_FALSE(entry.limits.empty()) << entry.name;
    EXPECT_EQ(entry.package.empty(), entry.name == kRecorderTracer) << entry.name;
    EXPECT_FALSE(entry.extension.empty()) << entry.name;
    EXPECT_GE(entry.patience, 1) << entry.name;
    EXPECT_NE(entry.variables, nullptr) << entry.name;
    EXPECT_NE(entry.keep, nullptr) << entry.name;
    const Availability here = entry.works_here();
    EXPECT_EQ(here.works, here.why.empty()) << entry.name;
    EXPECT_EQ(here.works, obstacle_here(entry, here).empty()) << entry.name;
  }
}

TEST(TracerRegistry, IsDescribedOnThePageOfTracers) {
  const std::string page = read_file(MEMDUEL_DOCS "/profilers.md");
  for (const TracerEntry& entry : tracers()) {
    const std::string package = entry.package.empty() ? "(memduel)" : entry.package;
    EXPECT_THAT(page, HasSubstr("\n| " + entry.name + " | " + package + " | "));
    if (entry.patience <= 1) continue;
    EXPECT_THAT(page, testing::ContainsRegex(fmt::format("{:g} (times as long )?under {}",
                                                         entry.patience, entry.name)));
  }
}

TEST(TracerRegistry, AllAreHereWhereSetupRan) {
  for (const TracerEntry& entry : tracers())
    EXPECT_TRUE(entry.works_here().works) << obstacle_here(entry, entry.works_here());
}

TEST(TracerRegistry, OneThatIsMissingIsNamedWithItsPackage) {
  EXPECT_EQ(obstacle_here(tracer_named("jemalloc"), {false, "libjemalloc.so.2 was not found"}),
            "libjemalloc.so.2 was not found; apt-get install libjemalloc2");
  EXPECT_EQ(obstacle_here(tracer_named("memray"), {false, "sitecustomize.py is missing"}),
            "sitecustomize.py is missing")
      << "no package of Debian has memduel's own script";
}

std::string refusal_of_tracer(const std::string& name) {
  try {
    tracer_named(name);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.message();
  }
  ADD_FAILURE() << "there is no such profiler";
  return {};
}

TEST(TracerRegistry, AnUnknownNameSuggestsTheNearest) {
  EXPECT_THAT(refusal_of_tracer("heaptrak"), HasSubstr("did you mean \"heaptrack\"?"));
}

TEST(TracerRegistry, ANameThatWasRemovedSaysWhatToUse) {
  EXPECT_THAT(refusal_of_tracer("massif"),
              HasSubstr("use recorder, heaptrack, gperftools or jemalloc"));
}

// What each tracer makes of a process that is to be started.

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

EnvironmentVariables variables_of(const std::string& tracer,
                                  const EnvironmentVariables& environment = {},
                                  const TracerOptions& options = {}) {
  return tracer_named(tracer).variables("/run/a trial", environment, options);
}

TEST(TracerVariables, AnArmsOwnPreloadsStayBehindTheTracers) {
  const EnvironmentVariables arm = {{"LD_PRELOAD", "/opt/theirs.so"}};
  for (const TracerEntry& entry : tracers()) {
    if (entry.records_python) continue;  // it preloads nothing
    const std::string preload = variables_of(entry.name, arm).at("LD_PRELOAD");
    const bool own = entry.name == "recorder";
    EXPECT_THAT(preload, StartsWith(own ? recorder_library().string() : dump_library().string()));
    EXPECT_THAT(preload, EndsWith(":/opt/theirs.so")) << entry.name;
    EXPECT_THAT(variables_of(entry.name).at("LD_PRELOAD"), Not(EndsWith(":")));
  }
}

TEST(TracerVariables, TheRecorderIsInNoOtherTracersProcess) {
  for (const TracerEntry& entry : tracers()) {
    if (entry.name == "recorder") continue;
    const auto variables = variables_of(entry.name);
    EXPECT_EQ(variables.at("MEMDUEL_PROFILER"), entry.name);
    EXPECT_EQ(variables.at("MEMDUEL_PROFILER_DIR"), "/run/a trial");
    EXPECT_FALSE(variables.contains("MEMDUEL_RECORDER_DIR")) << entry.name;
    EXPECT_THAT(value_in(variables, "LD_PRELOAD"), Not(HasSubstr("recorder"))) << entry.name;
  }
}

TEST(TracerVariables, HeaptrackWritesATraceForEveryProcess) {
  const auto variables = variables_of("heaptrack");
  EXPECT_EQ(variables.at("DUMP_HEAPTRACK_OUTPUT"), "/run/a trial/0-$$");
  EXPECT_THAT(variables.at("LD_PRELOAD"), EndsWith("/libheaptrack_preload.so"));
  EXPECT_EQ(variables.at("MEMDUEL_PROFILER_PRELOAD"), variables.at("LD_PRELOAD"));
}

TEST(TracerVariables, MemrayIsStartedByPythonBeforeTheProgramsOwnModules) {
  const std::string scripts = library_beside_programs("memray").string();
  EXPECT_EQ(variables_of("memray").at("PYTHONPATH"), scripts);
  EXPECT_EQ(variables_of("memray", {{"PYTHONPATH", "/opt/theirs"}}).at("PYTHONPATH"),
            scripts + ":/opt/theirs");
  EXPECT_FALSE(variables_of("memray").contains("LD_PRELOAD"));
}

TEST(TracerVariables, GperftoolsDumpsOnlyWhenItIsTold) {
  const auto variables = variables_of("gperftools");
  EXPECT_EQ(variables.at("HEAP_PROFILE_ALLOCATION_INTERVAL"), "0");
  EXPECT_EQ(variables.at("HEAP_PROFILE_INUSE_INTERVAL"), "0");
  EXPECT_FALSE(variables.contains("HEAPPROFILE"));
}

TEST(TracerVariables, JemallocSamplesAsItIsToldAndKeepsTheArmsSettings) {
  EXPECT_EQ(variables_of("jemalloc").at("MALLOC_CONF"),
            "prof:true,prof_active:true,prof_accum:true,lg_prof_sample:19");
  EXPECT_EQ(
      variables_of("jemalloc", {{"MALLOC_CONF", "narenas:1"}}, {1024, false}).at("MALLOC_CONF"),
      "narenas:1,prof:true,prof_active:true,prof_accum:true,lg_prof_sample:10");
  EXPECT_THAT(variables_of("jemalloc", {}, {1024, true}).at("MALLOC_CONF"),
              EndsWith("lg_prof_sample:0"));
  EXPECT_THROW(variables_of("jemalloc", {}, {1000, false}), Error) << "no power of two";
}

}  // namespace
}  // namespace memduel
