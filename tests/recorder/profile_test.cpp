// What profiles say about programs whose allocations are known.
#include "profile/profile.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cmath>
#include <cstdlib>
#include <map>

#include "profile/outputs.h"
#include "profile/recorded_files.h"
#include "profile/recording.h"
#include "run_program.h"
#include "support/profile_json.h"
#include "util/error.h"

namespace memduel {
namespace {

using testing::AnyOf;
using testing::Contains;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

std::filesystem::path trace_in(const ProgramRun& run) {
  std::vector<std::filesystem::path> traces;
  for (const auto& entry : std::filesystem::directory_iterator(run.directory)) {
    if (entry.path().extension() == ".mdp") traces.push_back(entry.path());
  }
  EXPECT_THAT(traces, SizeIs(1));
  return traces.empty() ? std::filesystem::path() : traces.front();
}

Profile profile_of(const std::filesystem::path& trace) {
  return profile_from_bytes(read_file(trace), trace.string());
}

struct Recorded {
  ProgramRun run;
  std::string bytes;
  Profile profile;
};

Recorded record(const std::string& program, const std::string& environment) {
  Recorded recorded;
  ProgramRun run = run_recorded(test_program(program), environment);
  EXPECT_EQ(run.status, 0);
  recorded.bytes = read_file(trace_in(run));
  recorded.profile = profile_from_bytes(recorded.bytes, program);
  recorded.run.out = run.out;
  recorded.run.images = run.images;
  return recorded;
}

const std::string kExact = "MEMDUEL_RECORDER_MODE=exact";

/// Bytes by the innermost function of the program itself whose name starts with `prefix`.
std::map<std::string, double> bytes_by_function(const Profile& profile, const LiveSites& sites,
                                                const std::string& prefix) {
  std::map<std::string, double> bytes;
  for (const auto& [stack, amount] : stacks_of(profile, sites)) {
    const std::vector<FrameName> frames = frames_of(profile, stack);
    for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) {
      if (frame->function.find(prefix) == std::string::npos) continue;
      bytes[frame->function] += amount.bytes;
      break;
    }
  }
  return bytes;
}

double find_site(const std::map<std::string, double>& bytes, int site) {
  const std::string number = fmt::format("make<{}>", site);
  for (const auto& [name, amount] : bytes) {
    if (name.find(number) != std::string::npos) return amount;
  }
  return 0;
}

TEST(ExactProfile, AgreesWithABookkeeperByFunctionForRandomPrograms) {
  for (int seed = 1; seed <= 12; ++seed) {
    Recorded recorded = record(fmt::format("random_allocator {}", seed), kExact);
    Profile& profile = recorded.profile;
    EXPECT_THAT(profile.notes, IsEmpty());
    symbolize(profile, {});
    const auto allocated =
        bytes_by_function(profile, sites_of(profile, ProfileKind::allocated), "make<");
    const auto peak = bytes_by_function(profile, sites_of(profile, ProfileKind::peak), "make<");
    const auto leaked = bytes_by_function(profile, sites_of(profile, ProfileKind::live), "make<");
    const std::vector<std::int64_t> expected = numbers_in(recorded.run.out);
    ASSERT_THAT(expected, SizeIs(24));
    for (int site = 0; site < 8; ++site) {
      const auto row = static_cast<std::size_t>(3 * site);
      EXPECT_EQ(find_site(allocated, site), static_cast<double>(expected[row]))
          << seed << " " << site;
      EXPECT_EQ(find_site(peak, site), static_cast<double>(expected[row + 1]))
          << seed << " " << site;
      EXPECT_EQ(find_site(leaked, site), static_cast<double>(expected[row + 2]))
          << seed << " " << site;
    }
  }
}

TEST(ExactProfile, KeepsABlockWhoseReallocFailsWhileOtherThreadsFree) {
  Recorded recorded = record("failing_realloc", kExact);
  symbolize(recorded.profile, {});
  for (const ProfileKind kind : {ProfileKind::allocated, ProfileKind::live}) {
    const auto bytes =
        bytes_by_function(recorded.profile, sites_of(recorded.profile, kind), "keep");
    ASSERT_THAT(bytes, SizeIs(1));
    EXPECT_EQ(bytes.begin()->second, 4 * 1000);
  }
}

TEST(ExactProfile, CountsWhatAHandlerDoesInTheMiddleOfTheRecorderAsLost) {
  const Recorded recorded = record("allocates_in_handler", kExact);
  double births = 0;
  for (const AllocationSite& site : recorded.profile.sites) {
    if (site.round == 1) births += site.allocated.count;
  }
  ASSERT_TRUE(recorded.profile.counters);
  const std::int64_t lost = recorded.profile.counters->lost;
  EXPECT_GT(lost, 0);
  EXPECT_EQ(lost % 2, 0) << "the birth and the death";
  ASSERT_THAT(numbers_in(recorded.run.out), SizeIs(1));
  EXPECT_EQ(static_cast<std::int64_t>(births) + lost / 2, numbers_in(recorded.run.out)[0]);
  EXPECT_THAT(recorded.profile.notes, Contains(HasSubstr("lost in the recorded")));
}

TEST(ExactProfile, IsNotDisturbedByChildrenThatWereForkedWithoutHandlers) {
  const Recorded recorded = record("forks_without_handlers", kExact);
  const std::vector<std::int64_t> expected = numbers_in(recorded.run.out);
  ASSERT_THAT(expected, SizeIs(2));
  ASSERT_THAT(recorded.run.images, SizeIs(1)) << "they are not recorded";
  const HeapScope round = scope_of_round(recorded.run.images[0], 1);
  EXPECT_EQ(round.allocations, expected[0]);
  EXPECT_EQ(round.allocated_bytes, expected[1]);
  double births = 0;
  double bytes = 0;
  for (const AllocationSite& site : recorded.profile.sites) {
    if (site.round != 1) continue;
    births += site.allocated.count;
    bytes += site.allocated.bytes;
  }
  EXPECT_EQ(births, expected[0]);
  EXPECT_EQ(bytes, expected[1]);
  EXPECT_THAT(recorded.profile.notes, testing::IsEmpty());
}

TEST(Profile, HoldsWhatALibraryAllocatesBeforeMainAndFreesAfterIt) {
  for (const std::string& environment :
       {kExact, std::string("MEMDUEL_RECORDER_MODE=sampled MEMDUEL_RECORDER_INTERVAL=10")}) {
    Recorded recorded = record("uses_library", environment);
    Profile& profile = recorded.profile;
    symbolize(profile, {});
    // An interval far below the blocks' size samples each of them.
    const auto allocated =
        bytes_by_function(profile, sites_of(profile, ProfileKind::allocated), "fill_table");
    ASSERT_THAT(allocated, SizeIs(1)) << environment;
    EXPECT_EQ(allocated.begin()->second, 100 * 10'000) << environment;
    EXPECT_THAT(bytes_by_function(profile, sites_of(profile, ProfileKind::live), "fill_table"),
                IsEmpty())
        << environment;
  }
}

TEST(SampledProfile, IsUnbiasedAndItsIntervalCoversOverManySeeds) {
  constexpr int kSeeds = 200;
  double sum_of_z = 0;
  int covered = 0;
  for (int seed = 1; seed <= kSeeds; ++seed) {
    const Recorded recorded =
        record("random_allocator 5", fmt::format("MEMDUEL_RECORDER_MODE=sampled "
                                                 "MEMDUEL_RECORDER_INTERVAL=50000 "
                                                 "MEMDUEL_RECORDER_SEED={}",
                                                 seed));
    ASSERT_TRUE(recorded.profile.counters);
    Estimate allocated;
    for (const auto& entry : sites_of(recorded.profile, ProfileKind::allocated))
      allocated += entry.second;
    const auto truth = static_cast<double>(recorded.profile.counters->allocated_bytes);
    const double error = allocated.bytes - truth;
    sum_of_z += error / std::sqrt(allocated.variance);
    covered += std::fabs(error) <= allocated.half_width() ? 1 : 0;
  }
  // The mean of 200 z scores is normal with standard deviation 1 / sqrt(200) when there is no bias;
  // coverage of a 95% interval is binomial: 190 +- 3.1, four standard deviations allowed.
  EXPECT_LT(std::fabs(sum_of_z / kSeeds), 4 / std::sqrt(kSeeds));
  EXPECT_GE(covered, 177);
}

TEST(RetentionMatrix, NamesALeakByFunctionAndPhase) {
  Recorded recorded = record("leaks_in_upload", kExact);
  Profile& profile = recorded.profile;
  symbolize(profile, {});
  std::map<std::pair<int, int>, double> leaked;
  for (const RetentionCell& cell : profile.retention) {
    for (const auto& [site, amount] : cell.sites) {
      const AllocationSite& birth = profile.sites[site];
      if (profile.phases[birth.phase] != "upload") continue;
      for (const FrameName& frame : frames_of(profile, birth.stack)) {
        if (frame.function.find("leak_in_upload") != std::string::npos) {
          leaked[{cell.born, cell.end}] += amount.bytes;
        }
      }
    }
  }
  ASSERT_THAT(leaked, SizeIs(15)) << "five rows of a triangle";
  for (const auto& [cell, bytes] : leaked) {
    EXPECT_EQ(bytes, 256 * 1024) << "born in " << cell.first << ", live after " << cell.second;
  }
  EXPECT_THAT(summarize(profile), HasSubstr("Retention"));
}

TEST(Profile, TagsBlocksWithTheThreadsOwnPhase) {
  Recorded recorded = record("leaks_in_upload", kExact);
  double bytes = 0;
  for (const AllocationSite& site : recorded.profile.sites) {
    if (recorded.profile.phases[site.phase] == "validate") bytes += site.allocated.bytes;
  }
  EXPECT_EQ(bytes, 5 * 70'000);
}

TEST(Profile, KeepsAPeakPerRoundAndStretchOfAPhase) {
  const Recorded recorded = record("leaks_in_upload", kExact);
  EXPECT_THAT(recorded.profile.round_peaks, SizeIs(5));
  EXPECT_THAT(recorded.profile.phase_peaks, SizeIs(10));
  // One block of train at a time, over what earlier rounds and the cache left.
  const double growth =
      recorded.profile.round_peaks[4].total.bytes - recorded.profile.round_peaks[3].total.bytes;
  EXPECT_EQ(growth, 256 * 1024 + 70'000);
}

TEST(Profile, CallsBlocksTemporaryThatDieInTheirPhaseByTheirThread) {
  Recorded recorded = record("leaks_in_upload", kExact);
  symbolize(recorded.profile, {});
  const auto bytes = bytes_by_function(recorded.profile,
                                       sites_of(recorded.profile, ProfileKind::temporary), "train");
  ASSERT_THAT(bytes, SizeIs(1));
  EXPECT_EQ(bytes.begin()->second, 5.0 * 100 * 100'000);
}

TEST(FinishedProfile, ReadsBackTheSameWithNames) {
  const Recorded recorded = record("leaks_in_upload", kExact);
  const FinishedProfile finished = finish_profile(recorded.bytes, "recorded", {});
  EXPECT_LT(finished.bytes.size(), recorded.bytes.size());
  const Profile again = profile_from_bytes(finished.bytes, "finished");
  EXPECT_EQ(profile_json(again), profile_json(finished.profile));
  EXPECT_THAT(export_folded(again, ProfileKind::live), HasSubstr("leak_in_upload"));
  const FinishedProfile twice = finish_profile(finished.bytes, "finished", {});
  EXPECT_EQ(profile_json(twice.profile), profile_json(again));
}

TEST(FinishedProfile, EndsWithTheCountersThatOutlivedTheProgram) {
  const Recorded recorded = record("leaks_in_upload", kExact);
  HeapTotals last;
  last.live_bytes = -5;
  last.peak_bytes = 8L << 30;
  last.allocated_bytes = 9L << 30;
  last.allocations = 1234567;
  last.mapping_bytes = 7;
  last.mapping_peak_bytes = 77;
  last.threads = 3;
  const FinishedProfile finished = finish_profile(recorded.bytes, "recorded", {}, {}, last);
  const Profile again = profile_from_bytes(finished.bytes, "finished");
  EXPECT_EQ(profile_json(again), profile_json(finished.profile));
  ASSERT_TRUE(again.counters.has_value());
  EXPECT_EQ(again.counters->live_bytes, -5);
  EXPECT_EQ(again.counters->peak_bytes, 8L << 30);
  EXPECT_EQ(again.counters->allocations, 1234567);
  EXPECT_EQ(again.counters->mapping_peak_bytes, 77);
  EXPECT_EQ(again.counters->threads, 3);
}

TEST(DamagedProfile, IsReadAsFarAsItGoesOrRefusedClearly) {
  const Recorded recorded = record("leaks_in_upload", kExact);
  for (const std::string& whole :
       {recorded.bytes, finish_profile(recorded.bytes, "whole", {}).bytes}) {
    for (std::size_t size = 0; size < whole.size(); size += 1 + size / 40) {
      try {
        profile_from_bytes(whole.substr(0, size), "cut");
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ExitCode::io);
        EXPECT_LT(size, 17U) << error.message();
      }
    }
    for (std::size_t at = 16; at < whole.size(); at += 1 + whole.size() / 200) {
      std::string flipped = whole;
      flipped[at] = static_cast<char>(flipped[at] ^ 0x40);
      EXPECT_THAT(profile_from_bytes(flipped, "flipped").notes, Not(IsEmpty())) << at;
    }
    std::string other_version = whole;
    other_version[8] = 9;
    EXPECT_THROW(profile_from_bytes(other_version, "other"), Error);
  }
  EXPECT_THROW(profile_from_bytes("", "empty"), Error);
}

TEST(KilledProgram, LeavesAllFinishedPhases) {
  const ProgramRun run =
      run_recorded("sh -c 'exec " + test_program("hostile_exits") + " kill'", kExact);
  ASSERT_EQ(run.status, 137);
  std::vector<Profile> profiles;
  for (const auto& entry : std::filesystem::directory_iterator(run.directory)) {
    if (entry.path().extension() == ".mdp") profiles.push_back(profile_of(entry.path()));
  }
  EXPECT_THAT(profiles,
              Contains(Field(&Profile::info,
                             Contains(testing::Pair("program", HasSubstr("hostile_exits"))))));
}

class EveryMode : public testing::TestWithParam<std::tuple<const char*, const char*>> {};

TEST_P(EveryMode, HostileProgramsAreUnharmed) {
  const auto& [environment, program] = GetParam();
  const std::string name = program;
  const std::string arguments = name == "opens_plugins"
                                    ? " " + test_program("librecorder_plugin.so")
                                : name == "cross_thread" ? " 20000"
                                                         : "";
  for (const std::string preload : {"", "/usr/lib/x86_64-linux-gnu/libjemalloc.so.2"}) {
    // What foreign_blocks frees is glibc's: it dies under jemalloc by itself. A fork in a signal
    // handler locks all of jemalloc's mutexes, also the one that the interrupted call holds.
    if (!preload.empty() && (name == "foreign_blocks" || name == "fork_in_handler")) continue;
    // every_entry reads chunk headers unless it is told that there are none.
    const std::string other = preload.empty() || name != "every_entry" ? "" : " other";
    const ProgramRun run =
        run_recorded(test_program(program) + arguments + other, environment, preload);
    EXPECT_EQ(run.status, 0) << preload;
    for (const auto& entry : std::filesystem::directory_iterator(run.directory)) {
      if (entry.path().extension() != ".mdp") continue;
      const Profile profile = profile_of(entry.path());
      EXPECT_THAT(profile.notes, testing::Each(AnyOf(HasSubstr("the recorder missed"),
                                                     HasSubstr("lost in the recorded"))))
          << preload;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Recorder, EveryMode,
    testing::Combine(testing::Values("MEMDUEL_RECORDER_MODE=exact",
                                     "MEMDUEL_RECORDER_MODE=sampled MEMDUEL_RECORDER_INTERVAL=500"),
                     testing::Values("every_entry", "hostile_fork", "hostile_lifetimes",
                                     "hostile_new", "overrides_new", "foreign_blocks",
                                     "cross_thread", "fork_in_handler", "fork_in_locks",
                                     "forks_without_handlers", "maps", "opens_plugins")),
    [](const auto& instance) {
      return std::string(std::string(std::get<0>(instance.param)).ends_with("exact") ? "exact_"
                                                                                     : "sampled_") +
             std::get<1>(instance.param);
    });

TEST(RecordCommand, GivesEachImageItsFileAndTheCommandsStatus) {
  const auto directory =
      std::filesystem::temp_directory_path() / fmt::format("memduel-record-{}", getpid());
  std::filesystem::create_directories(directory);
  RecordOptions options;
  options.argv = {"sh", "-c", "/bin/true; exit 7"};
  options.output = directory / "out.mdp";
  options.preload.library = MEMDUEL_RECORDER_LIBRARY;
  const RecordResult result = record_command(options);
  EXPECT_EQ(result.status, 7);
  ASSERT_THAT(result.images, SizeIs(2));
  EXPECT_EQ(result.images[0].file, directory / "out.mdp");
  EXPECT_EQ(result.images[1].file, directory / "out.2.mdp");
  EXPECT_THAT(profile_of(directory / "out.2.mdp").info,
              Contains(testing::Pair("end", "normal exit")));
  options.argv = {"/nowhere/program"};
  EXPECT_THROW(record_command(options), Error);
  std::filesystem::remove_all(directory);
}

TEST(RecordCommand, PassesByADirectoryOfTheCommandsName) {
  const auto directory =
      std::filesystem::temp_directory_path() / fmt::format("memduel-path-{}", getpid());
  std::filesystem::create_directories(directory / "true");
  const char* variable = std::getenv("PATH");
  ASSERT_NE(variable, nullptr);
  const std::string path = variable;
  RecordOptions options;
  options.argv = {"true"};
  options.output = directory / "out.mdp";
  options.preload.library = MEMDUEL_RECORDER_LIBRARY;
  setenv("PATH", (directory.string() + ":" + path).c_str(), 1);
  EXPECT_NO_THROW(EXPECT_THAT(record_command(options).images, SizeIs(1)));
  setenv("PATH", path.c_str(), 1);
  std::filesystem::remove_all(directory);
}

TEST(RecordCommand, SaysWhyAProgramCannotBeRecorded) {
  EXPECT_THAT(obstacle_to_recording("/usr/bin/passwd"), HasSubstr("setuid"));
  EXPECT_THAT(obstacle_to_recording("/sbin/ldconfig"), HasSubstr("static"));
  EXPECT_THAT(obstacle_to_recording("/bin/true"), IsEmpty());
  for (const std::string sanitizer : {"address", "thread"}) {
    EXPECT_THAT(obstacle_to_recording(test_program("sanitized_" + sanitizer)),
                HasSubstr("sanitizer"));
  }
}

TEST(RecordCommand, TakesACompilerThatKnowsSanitizersForAProgramAsOthers) {
  const std::string compiler = run_recorded("g++ -print-prog-name=cc1plus").out;
  ASSERT_THAT(compiler, testing::EndsWith("cc1plus\n"));
  EXPECT_THAT(obstacle_to_recording(compiler.substr(0, compiler.size() - 1)), IsEmpty());
}

}  // namespace
}  // namespace memduel
