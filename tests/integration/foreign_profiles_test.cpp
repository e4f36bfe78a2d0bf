// The verbs that look at profiles, on files of other tools.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "support/memduel_program.h"
#include "util/file.h"

namespace memduel {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string golden(const std::string& name) {
  return std::string(MEMDUEL_READERS_TESTDATA) + "/" + name;
}

TEST(ForeignProfiles, SummaryTellsWhatTheToolItselfSays) {
  const Workplace place;
  const Finished run = memduel(place, {"summary", golden("heaptrack.gz")});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("profiler        heaptrack 1.4.0"));
  EXPECT_THAT(run.out, HasSubstr("live at peak  1.08 MiB"));
  EXPECT_THAT(run.out, HasSubstr("in 532 allocations"));
  EXPECT_THAT(run.out, HasSubstr("freed by the very next event"));
}

TEST(ForeignProfiles, SummaryOfTimeHasNoBytes) {
  const Workplace place;
  const Finished run = memduel(place, {"summary", golden("go_cpu.pb.gz")});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("total         70.0 ms ± 51.9 ms in 7 samples"));
  EXPECT_EQ(run.out.find("MiB"), std::string::npos) << run.out;
}

TEST(ForeignProfiles, TwoFilesOfMemrayAreOnePage) {
  const Workplace place;
  const std::string page = place.path("change.html").string();
  const std::string copy = place.file("after.json", read_file(golden("memray-gprof2dot.json")));
  const Finished run =
      memduel(place, {"flamegraph", golden("memray-gprof2dot.json"), "--diff", copy, "-o", page});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(read_file(page), HasSubstr("after.json against memray-gprof2dot.json"));
}

TEST(ForeignProfiles, TwoFilesOfPprofAreOnePage) {
  const Workplace place;
  const std::string exported = place.path("again.pb.gz").string();
  EXPECT_EQ(memduel(place, {"export", golden("go_heap.pb.gz"), "--format", "pprof", "-o", exported})
                .status,
            0);
  const std::string page = place.path("change.html").string();
  const Finished run =
      memduel(place, {"flamegraph", golden("go_heap.pb.gz"), "--diff", exported, "-o", page});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.err.find("tools count differently"), std::string::npos) << run.err;
  EXPECT_THAT(read_file(page), HasSubstr("again.pb.gz against go_heap.pb.gz"));
}

TEST(ForeignProfiles, FilesOfTwoToolsSayWhatIsCompared) {
  const Workplace place;
  const std::string page = place.path("change.html").string();
  const Finished run = memduel(place, {"flamegraph", golden("heaptrack.gz"), "--diff",
                                       golden("gperftools.heap"), "-o", page});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(
      run.err,
      HasSubstr("heaptrack.gz is of heaptrack (requested bytes of every allocation) and "
                "gperftools.heap of gperftools (requested bytes of every allocation): tools "
                "count differently"));
  EXPECT_THAT(run.err, HasSubstr("Compared: live, allocated\n"));
  const Finished none = memduel(place, {"flamegraph", golden("memray-gprof2dot.json"), "--diff",
                                        golden("memray-stats.json"), "-o", page});
  EXPECT_EQ(none.status, 2);
  EXPECT_THAT(none.err, HasSubstr("memray-gprof2dot.json has peak and memray-stats.json has "
                                  "allocated: they have no amount in common"));
}

TEST(ForeignProfiles, ATruncatedDumpIsReportedWithItsLossByEveryVerb) {
  const Workplace place;
  const std::string loss =
      "truncated by gperftools, whose limit is 1 MiB: 83.4 KiB live "
      "(34.7%) and 1.10 MiB allocated (87.7%)";
  const Finished summary = memduel(place, {"summary", golden("gperftools-cut.heap.gz")});
  EXPECT_EQ(summary.status, 0) << summary.err;
  EXPECT_THAT(summary.out, HasSubstr("Note: " + loss));
  EXPECT_THAT(summary.out, HasSubstr("[cut off]"));
  const Finished page = memduel(place, {"flamegraph", golden("gperftools-cut.heap.gz"), "-o",
                                        place.path("cut.html").string()});
  EXPECT_EQ(page.status, 0) << page.err;
  EXPECT_THAT(page.err, HasSubstr("gperftools-cut.heap.gz: " + loss));
}

TEST(ForeignProfiles, CompareNamesWhatTheFilesAreAndWhatComparesThem) {
  const Workplace place;
  const Finished other =
      memduel(place, {"compare", place.file("x.json", "{}"), place.file("y.json", "{}")});
  EXPECT_EQ(other.status, 4);
  EXPECT_THAT(other.err,
              HasSubstr("contains no results of memduel, hyperfine or Google Benchmark"));
}

TEST(ForeignProfiles, CompareAndSummaryPrintTheSameDifference) {
  const Workplace place;
  for (const char* other : {"shapes.mdp", "gperftools.heap", "go_heap.pb.gz"}) {
    const Finished compare = memduel(place, {"compare", golden("heaptrack.gz"), golden(other)});
    EXPECT_EQ(compare.status, 0) << compare.err;
    EXPECT_THAT(compare.out, AllOf(HasSubstr("Baseline: "), HasSubstr("tools count differently")));
    const Finished summary =
        memduel(place, {"summary", golden(other), "--diff", golden("heaptrack.gz")});
    EXPECT_EQ(summary.status, 0) << summary.err;
    EXPECT_EQ(summary.out, compare.out);
  }
}

TEST(ForeignProfiles, AProfileAgainstItselfHasNoDifference) {
  const Workplace place;
  for (const char* name :
       {"heaptrack.gz", "heaptrack.raw.zst", "shapes.mdp", "gperftools.heap", "jemalloc.heap",
        "sampled.heap", "memray-gprof2dot.json", "memray-stats.json", "go_heap.pb.gz",
        "go_cpu.pb.gz", "heaptrack.folded"}) {
    const Finished run = memduel(place, {"compare", golden(name), golden(name)});
    EXPECT_EQ(run.status, 0) << run.err;
    EXPECT_THAT(run.out, AllOf(HasSubstr(": unchanged ("), HasSubstr("Nothing differs")));
  }
}

TEST(ForeignProfiles, CompareRefusesWhatIsNoPairOfProfiles) {
  const Workplace place;
  const std::string profile = golden("shapes.mdp");
  const auto refused = [&](const std::vector<std::string>& words, int status,
                           const std::string& text) {
    const Finished run = memduel(place, words);
    EXPECT_EQ(run.status, status) << run.err;
    EXPECT_THAT(run.err, HasSubstr(text));
    EXPECT_EQ(run.out, "");
  };
  const std::string directory = place.path("run").string();
  std::filesystem::create_directory(directory);
  refused({"compare", profile, directory}, 2, "shapes.mdp is a profile, " + directory);
  refused({"compare", directory, profile}, 2, directory + " is a directory");
  refused({"compare", profile, "absent.mdp"}, 2,
          "absent.mdp is a command, since no file has this name");
  refused({"compare", profile}, 2, "two profiles");
  refused({"compare", profile, profile, profile}, 2, "two profiles");
  const std::string whole = read_file(profile);
  const std::string half = place.file("half.mdp", whole.substr(0, whole.size() / 2));
  refused({"compare", profile, half}, 4, "ends inside a block at byte ");
  refused({"compare", profile, place.file("letter.txt", "Dear reader\n")}, 4, "letter.txt: byte ");
  refused({"compare", profile, place.file("massif.out", "desc: x\ncmd: y\n")}, 4,
          "a file of massif");
  refused({"summary", profile, "--diff", "absent.mdp"}, 4, "absent.mdp");
  refused({"summary", profile, "--json"}, 2, "--json");
  for (const std::vector<std::string>& option : std::vector<std::vector<std::string>>{
           {"--gate", "default"}, {"--repeats", "2"}, {"--out", "x"}, {"--export", "json", "x"}}) {
    std::vector<std::string> words = {"compare", profile, profile};
    words.insert(words.end(), option.begin(), option.end());
    refused(words, 2, option.front() + ": compare of two profiles ");
  }
  refused({"compare", "true", "true", "--json"}, 2,
          "--json: compare of commands reads no profiles");
}

TEST(ForeignProfiles, BytesAndTimeCannotBeCompared) {
  const Workplace place;
  const Finished run =
      memduel(place, {"flamegraph", golden("go_heap.pb.gz"), "--diff", golden("go_cpu.pb.gz"), "-o",
                      place.path("x.html").string()});
  EXPECT_EQ(run.status, 2);
  EXPECT_THAT(run.err, HasSubstr("go_heap.pb.gz has bytes and go_cpu.pb.gz has nanoseconds"));
}

TEST(ForeignProfiles, AreExportedLikeAnyOther) {
  const Workplace place;
  const Finished folded =
      memduel(place, {"export", golden("heaptrack.gz"), "--format", "folded", "--kind", "peak"});
  EXPECT_EQ(folded.status, 0) << folded.err;
  EXPECT_THAT(folded.out, HasSubstr("main;hold_all();allocate(unsigned long) 1048576\n"));
  const Finished none = memduel(
      place, {"export", golden("memray-gprof2dot.json"), "--format", "folded", "--kind", "live"});
  EXPECT_EQ(none.status, 4);
  EXPECT_THAT(none.err, HasSubstr("the profile has no live allocations"));
}

TEST(ForeignProfiles, AWrongEmptyOrHalfFileIsOneLineAndExitFour) {
  const Workplace place;
  const std::string whole = read_file(golden("heaptrack.raw.zst"));
  const std::string recorded = read_file(golden("shapes.mdp"));
  const std::string half = place.file("half.mdp", recorded.substr(0, recorded.size() / 2));
  const Finished page = memduel(place, {"flamegraph", half});
  EXPECT_EQ(page.status, 4);
  EXPECT_EQ(std::count(page.err.begin(), page.err.end(), '\n'), 1) << page.err;
  EXPECT_THAT(page.err, AllOf(HasSubstr(half), HasSubstr("ends inside a block at byte ")));
  const std::string files[] = {
      place.file("wrong.txt", "Dear reader\n"),
      place.file("empty.zst", ""),
      place.file("half.zst", whole.substr(0, whole.size() / 2)),
  };
  for (const std::string& file : files) {
    for (const Finished& run : {memduel(place, {"summary", file}),
                                memduel(place, {"flamegraph", golden("heaptrack.gz"), "--diff",
                                                file, "-o", place.path("x.html").string()})}) {
      EXPECT_EQ(run.status, 4) << file;
      EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 1) << run.err;
      EXPECT_THAT(run.err, AllOf(HasSubstr(file), HasSubstr(": byte ")));
    }
  }
}

}  // namespace
}  // namespace memduel
