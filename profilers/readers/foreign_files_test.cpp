// Files that memduel recognises and does not read. Their beginnings are those of files that memray
// 1.20.0, perf 6.1, heaptrack 1.4, GNU time 1.9, Go 1.24, OpenJDK 17, Node.js 18 and hyperfine 1.15
// wrote.
#include "readers/foreign_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "readers/read_profile.h"
#include "test_golden_files.h"
#include "util/error.h"
#include "util/file.h"

namespace memduel {
namespace {

using testing::HasSubstr;
using testing_golden::golden_file;

struct Beginning {
  std::string bytes;
  const char* name;
  const char* next;
};

template <std::size_t kSize>
std::string bytes(const char (&text)[kSize]) {
  return {text, kSize - 1};
}

const Beginning kBeginnings[] = {
    {bytes("memray\0\x0d\0\0\0\xf0"), "a capture of memray", "memray transform gprof2dot FILE"},
    {bytes("\x04\x22\x4d\x18\x40\x40\xc0\x67\x38\x00\x00\xf9\x05memray\0\x0d\0\0\0"),
     "a capture of memray", "memray transform gprof2dot FILE"},
    {bytes("PERFILE2h\0\0\0\0\0\0\0"), "a recording of perf",
     "perf script report stackcollapse -i FILE"},
    {"# started on Mon Nov 30 09:46:30 2026\n\n\n Performance counter stats for 'true':\n",
     "a report of perf stat", "memduel compare --a CMD --b CMD"},
    {"goos: linux\ngoarch: amd64\npkg: ex\ncpu: AMD EPYC\nBenchmarkX-2   \t     100\t",
     "a file of results of Go's benchmarks", "benchstat FILE OTHER"},
    {"pkg: ex\nBenchmarkX-2   \t     100\t", "a file of results of Go's benchmarks",
     "benchstat FILE OTHER"},
    {"\tCommand being timed: \"true\"\n\tUser time (seconds): 0.00\n", "a report of GNU time",
     "memduel compare --a CMD --b CMD"},
    {"reading file \"ht.zst\" - please wait, this might take some time...\n",
     "a report of heaptrack_print", "memduel summary reads the file"},
    {bytes("JAVA PROFILE 1.0.2\0\0\0\0\x08"), "a heap dump of a Java virtual machine",
     "memduel compare --a 'java"},
    {bytes("FLR\0\0\x02\0\x01"), "a recording of Java Flight Recorder",
     "jfrconv -o collapsed FILE"},
    {R"({"snapshot":{"meta":{"node_fields":["type")", "a heap profile of V8",
     "memduel compare --a 'node"},
    {R"({"head":{"callFrame":{"functionName":"",)", "a heap profile of V8",
     "memduel compare --a 'node"},
    {"{\n  \"results\": [\n    {\n      \"command\": \"sleep 0.1\",\n",
     "a file of results of hyperfine", "memduel compare FILE OTHER"},
    {"{\n  \"context\": {\n    \"date\": \"2026-", "a file of results of Google Benchmark",
     "memduel compare FILE OTHER"},
    {bytes("SQLite format 3\0\x10"), "a database, such as a run's store",
     "give the run's directory"},
    {bytes("\x7f"
           "ELF\x02\x01\x01"),
     "a program", "memduel record -- FILE"},
    {bytes("\0\0\0\0\0\0\0\0\3\0\0\0\0\0\0\0x"), "a CPU profile of gperftools",
     "google-pprof --collapsed PROGRAM FILE"},
    {R"({"$schema":"https://www.speedscope.app/file-format-schema.json"})",
     "a profile of speedscope", "export pprof or folded stacks"},
    {"desc: --time-unit=B\ncmd: ./shapes\n", "a file of massif, Valgrind's heap profiler",
     "memduel record"},
};

TEST(ForeignFiles, AreNamedWithTheNextCommand) {
  const ScratchDirectory place(testing::TempDir(), "foreign files");
  const std::filesystem::path file = place.path() / "x";
  for (const Beginning& each : kBeginnings) {
    const ForeignFile* kind = foreign_file(each.bytes);
    ASSERT_NE(kind, nullptr) << each.name;
    EXPECT_EQ(kind->name, each.name);
    EXPECT_THAT(std::string(kind->next), HasSubstr(each.next));
    write_file_atomically(file, each.bytes + "\n");
    try {
      read_profile(file);
      ADD_FAILURE() << "expected a refusal of " << each.name;
    } catch (const Error& error) {
      EXPECT_EQ(error.where(), file.string());
      EXPECT_EQ(error.what(),
                std::string("is ") + each.name + ", and no profile that memduel reads");
      EXPECT_EQ(error.advice(), next_step_for(*kind, file.string()));
      EXPECT_THAT(error.advice(), testing::Not(HasSubstr("FILE")));
    }
    EXPECT_THROW(refuse_as_results(file), Error) << each.name;
  }
}

TEST(ForeignFiles, OfAnUnknownKindAreNoneOfThem) {
  for (const char* text : {"", "Dear reader,\n", "{}", R"({"a": 1})", "<html>"})
    EXPECT_EQ(foreign_file(text), nullptr) << text;
  const ScratchDirectory place(testing::TempDir(), "foreign-unknown");
  const std::filesystem::path file = place.path() / "x";
  write_file_atomically(file, "Dear reader,\n");
  EXPECT_NO_THROW(refuse_as_results(file));
  EXPECT_NO_THROW(refuse_as_results(place.path() / "absent"));
}

TEST(ForeignFiles, AreNoProfiles) {
  const ScratchDirectory place(testing::TempDir(), "foreign-profiles");
  const std::filesystem::path file = place.path() / "x";
  for (const Beginning& each : kBeginnings) {
    write_file_atomically(file, each.bytes + "\n");
    EXPECT_FALSE(is_profile(file)) << each.name;
  }
  EXPECT_FALSE(is_profile(place.path() / "absent"));
  EXPECT_FALSE(is_profile(place.path()));
  for (const char* name : {"shapes.mdp", "heaptrack.gz", "go_heap.pb.gz", "memray-gprof2dot.json"})
    EXPECT_TRUE(is_profile(golden_file(name))) << name;
}

}  // namespace
}  // namespace memduel
