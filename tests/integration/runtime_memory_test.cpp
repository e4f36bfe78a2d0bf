// The heaps of runtimes by name, in real programs of research/mapped.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <sstream>

#include "support/memduel_program.h"

namespace memduel {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

const std::string kMappedPrograms = MEMDUEL_SOURCES "/research/mapped/";

bool is_installed(const std::string& program) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');)
    if (fs::exists(fs::path(folder) / program)) return true;
  return false;
}

/// What `memduel summary` says of heap and mappings: "24.0 MiB (72.7%) in 24 allocations", then its
/// functions.
std::string mappings_of(const Workplace& place, const std::vector<std::string>& command) {
  std::vector<std::string> arguments = {"record", "--exact", "-o", place.path("x.mdp").string(),
                                        "--"};
  arguments.insert(arguments.end(), command.begin(), command.end());
  const Finished run = memduel(place, arguments);
  EXPECT_EQ(run.status, 0) << run.err;
  const std::string text = memduel(place, {"summary", place.path("x.mdp").string()}).out;
  const std::size_t begin = text.find("Top stacks: peak of heap and mappings");
  if (begin == std::string::npos) return {};
  return text.substr(begin, text.find("\n\n", begin) - begin);
}

/// The first stack of what mappings_of() said, without its amount.
std::string largest_in(const std::string& mappings) {
  const std::size_t amount = mappings.find("   1. ");
  const std::size_t begin = mappings.find('\n', amount) + 1;
  return mappings.substr(begin, mappings.find("\n   2. ", begin) - begin);
}

TEST(RuntimeMemory, NamesArenasByThePythonFunctionThatFillsThem) {
  const Workplace place;
  const std::string script = place.file("objects.py",
                                        "def keep():\n"
                                        "  kept = None\n"
                                        "  for i in range(300000): kept = (kept, i)\n"
                                        "  return kept\n"
                                        "kept = keep()\n"
                                        "import os\n"
                                        "os._exit(0)  # not to free a chain that deep\n");
  const std::string mappings = mappings_of(place, {"/usr/bin/python3", script});
  EXPECT_THAT(largest_in(mappings), AllOf(HasSubstr("        small Python objects\n        keep  "),
                                          HasSubstr("<module>")));
  // 64 bytes a tuple and 32 an integer in whole arenas of 1 MiB, of whose pools a little is lost;
  // the first lies in what the interpreter has mapped.
  const double mib = std::stod(mappings.substr(mappings.find("   1. ") + 6));
  EXPECT_NEAR(mib, 300000 * 96.0 / (1 << 20), 1.5);
}

TEST(RuntimeMemory, LeavesAMappingThatPythonCodeMakesToItsFunction) {
  const Workplace place;
  const std::string mappings =
      mappings_of(place, {"/usr/bin/python3", "-c",
                          "import mmap\ndef own():\n"
                          "  at = mmap.mmap(-1, 40 << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)\n"
                          "  for page in range(0, 40 << 20, 4096): at[page] = 1\n"
                          "  return at\nkept = own()"});
  EXPECT_THAT(largest_in(mappings), HasSubstr("        own  "));
  EXPECT_THAT(largest_in(mappings), testing::Not(HasSubstr("small Python objects")));
}

TEST(RuntimeMemory, NamesTheHeapOfV8) {
  if (!is_installed("node")) GTEST_SKIP() << "no node";
  const Workplace place;
  EXPECT_EQ(largest_in(mappings_of(place, {"node", kMappedPrograms + "objects.js", "200000"})),
            "        V8 heap");
}

TEST(RuntimeMemory, NamesTheHeapOfJava) {
  if (!is_installed("javac")) GTEST_SKIP() << "no JDK";
  const Workplace place;
  // java compiles a source that is all it gets.
  const std::string mappings =
      mappings_of(place, {"java", kMappedPrograms + "Objects.java", "200000"});
  EXPECT_EQ(largest_in(mappings), "        Java heap");
  EXPECT_THAT(mappings, HasSubstr("        Java code cache"));
}

TEST(RuntimeMemory, NamesTheHeapOfPhp) {
  if (!is_installed("php")) GTEST_SKIP() << "no php";
  const Workplace place;
  EXPECT_EQ(largest_in(mappings_of(place, {"php", kMappedPrograms + "objects.php", "200000"})),
            "        PHP heap");
}

TEST(RuntimeMemory, NamesTheHeapOfRuby) {
  if (!is_installed("ruby")) GTEST_SKIP() << "no ruby";
  const Workplace place;
  EXPECT_THAT(mappings_of(place, {"ruby", kMappedPrograms + "objects.rb", "200000"}),
              HasSubstr("        Ruby heap"));
}

TEST(RuntimeMemory, OfAFailedGateLeadsToTheToolThatShowsIt) {
  const Workplace place;
  const std::string script = place.file("objects.py",
                                        "import sys\n"
                                        "def keep(count):\n"
                                        "  kept = None\n"
                                        "  for i in range(count): kept = (kept, i)\n"
                                        "  return kept\n"
                                        "kept = keep(int(sys.argv[1]))\n"
                                        "import os\n"
                                        "os._exit(0)  # not to free a chain that deep\n");
  const std::string command = "/usr/bin/python3 " + script + " ";
  const Finished run =
      memduel(place, {"compare", "--a", command + "300000", "--b", command + "360000", "--repeats",
                      "5", "--gate", "default", "--out", place.path("run")});
  EXPECT_EQ(run.status, 1) << run.err;
  EXPECT_THAT(run.out, HasSubstr("keep (small Python objects) (objects.py:4)"));
  EXPECT_THAT(run.out, HasSubstr("record every object"));
  EXPECT_THAT(run.out, HasSubstr("PYTHONMALLOC=malloc"));
}

TEST(RuntimeMemory, OfAGoProgramLeadsToPprof) {
  if (!is_installed("go")) GTEST_SKIP() << "no go";
  const Workplace place;
  const std::string program = place.path("objects");
  const Finished built = Running(place, "/usr/bin/env",
                                 {"CGO_ENABLED=0", "GOCACHE=" + place.path("cache").string(), "go",
                                  "build", "-o", program, kMappedPrograms + "objects.go"})
                             .wait();
  ASSERT_EQ(built.status, 0) << built.err;
  const Finished run =
      memduel(place, {"compare", "--a", program + " 3000000", "--b", program + " 6000000",
                      "--repeats", "5", "--gate", "default", "--out", place.path("run")});
  EXPECT_EQ(run.status, 1) << run.out;
  EXPECT_THAT(run.out, HasSubstr("http://localhost:6060/debug/pprof/heap"));
  const std::string limitations = results_in(place.path("run")).at("limitations").dump();
  EXPECT_THAT(limitations, HasSubstr("go_heap"));
  EXPECT_THAT(limitations, testing::Not(HasSubstr("rerun with"))) << "no other run would say where";
}

}  // namespace
}  // namespace memduel
