// memduel record on real programs, and the verbs that look at what it left.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <sstream>

#include "support/memduel_program.h"
#include "util/file.h"

namespace memduel {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

namespace fs = std::filesystem;

const std::string kPrograms = MEMDUEL_RECORDER_PROGRAMS;
const std::string kSources = MEMDUEL_SOURCES;
constexpr double kRoundBytes = 256 * 1024;

Finished record(const Workplace& place, std::vector<std::string> options,
                const std::vector<std::string>& command) {
  options.insert(options.begin(), {"record", "-o", place.path("out.mdp").string()});
  options.emplace_back("--");
  options.insert(options.end(), command.begin(), command.end());
  return memduel(place, options);
}

std::string exported(const Workplace& place, const fs::path& profile, const std::string& format,
                     const std::string& kind = "allocated") {
  std::vector<std::string> words = {"export", profile.string(), "--format", format};
  if (format != "pprof") words.insert(words.end(), {"--kind", kind});
  const Finished run = memduel(place, words);
  EXPECT_EQ(run.status, 0) << run.err;
  return run.out;
}

/// The profiles of `record`, by the file name of the program that left them.
std::multimap<std::string, fs::path> profiles_in(const Workplace& place) {
  std::multimap<std::string, fs::path> profiles;
  for (const auto& entry : fs::directory_iterator(place.path(""))) {
    if (entry.path().extension() != ".mdp") continue;
    const auto json = profile_in(place, entry.path());
    const fs::path program = json.at("info").at("program").get<std::string>();
    EXPECT_THAT(json.at("notes"), IsEmpty()) << program;
    profiles.emplace(program.filename().string(), entry.path());
  }
  return profiles;
}

// Both write more than a MiB of trace, which is replayed while they run.
TEST(ExactRecording, HasEveryEventOfProgramsThatRanAtOnce) {
  const Workplace place;
  const std::string program = kPrograms + "/many_stacks";
  const Finished run = record(
      place, {"--exact"}, {"sh", "-c", program + " 2 17 1000 & " + program + " 1 18 1000; wait"});
  ASSERT_EQ(run.status, 0) << run.err;
  const auto profiles = profiles_in(place);
  ASSERT_EQ(profiles.count("many_stacks"), 2U);
  const auto [first, last] = profiles.equal_range("many_stacks");
  for (auto each = first; each != last; ++each) {
    const auto json = profile_in(place, each->second);
    double births = 0;
    for (const auto& site : json.at("sites"))
      births += site.at("allocated").at("count").get<double>();
    EXPECT_EQ(births, json.at("counters").at("allocations").get<double>());
    EXPECT_GE(births, 1 << 18);
    EXPECT_LE(births, (1 << 18) + 100) << "the arrays of blocks, the threads and the output";
  }
}

struct FoldedLine {
  std::vector<std::string> frames;  ///< outermost first
  double bytes = 0;
};

std::vector<FoldedLine> folded_lines(const std::string& text) {
  std::vector<FoldedLine> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    const std::size_t space = line.rfind(' ');
    FoldedLine folded{{}, std::stod(line.substr(space + 1))};
    std::istringstream frames(line.substr(0, space));
    for (std::string frame; std::getline(frames, frame, ';');) folded.frames.push_back(frame);
    lines.push_back(folded);
  }
  return lines;
}

/// The share of bytes whose stack reaches the program's entry: the rest was unwound only in part.
double share_from_the_start(const std::vector<FoldedLine>& lines, const std::string& program) {
  double all = 0;
  double whole = 0;
  for (const FoldedLine& line : lines) {
    all += line.bytes;
    const std::string& outermost = line.frames.front();
    // Without a symbol table the entry is an address in the program.
    const bool from_the_start = outermost == "_start" || outermost.starts_with(program + "+0x");
    const bool of_the_linker = outermost == "_dl_start_user" || outermost.starts_with("ld-linux");
    if (from_the_start || of_the_linker) whole += line.bytes;
  }
  EXPECT_GT(all, 0) << program;
  return all > 0 ? whole / all : 0;
}

/// Stacks reach the program's entry, and `function` is named in some of them.
void expect_sensible(const Workplace& place, const std::string& program,
                     const std::string& function) {
  const auto profiles = profiles_in(place);
  const auto found = profiles.find(program);
  ASSERT_NE(found, profiles.end()) << "no profile of " << program;
  const std::string folded = exported(place, found->second, "folded");
  EXPECT_GE(share_from_the_start(folded_lines(folded), program), 0.99) << program;
  EXPECT_THAT(folded, HasSubstr(function));
}

TEST(Record, LeavesACompilationUnharmedAndNamesItsCompiler) {
  const Workplace place;
  const std::string source = kSources + "/util/text.cpp";
  const std::string flags = " -std=c++20 -c -I" + kSources + "/util/include " + source + " -o ";
  ASSERT_EQ(std::system(("g++" + flags + place.path("plain.o").string()).c_str()), 0);
  const Finished run = record(place, {"--interval", "64KiB"},
                              {"g++", "-std=c++20", "-c", "-I" + kSources + "/util/include", source,
                               "-o", place.path("out.o")});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(read_file(place.path("out.o")), read_file(place.path("plain.o")));
  expect_sensible(place, "cc1plus", "c_parse_file()");
  EXPECT_THAT(profiles_in(place), Contains(testing::Key(testing::EndsWith("as"))));
}

TEST(Record, CountersAreKeptWithoutASample) {
  const Workplace place;
  EXPECT_EQ(record(place, {"--interval", "1TiB"}, {"git", "--version"}).status, 0);
  const auto json = profile_in(place, place.path("out.mdp"));
  EXPECT_GT(json.at("counters").at("allocations"), 0);
  const Finished folded =
      memduel(place, {"export", place.path("out.mdp").string(), "--format", "folded"});
  EXPECT_EQ(folded.status, 4);
  EXPECT_THAT(folded.err, HasSubstr("memduel record --exact"));
}

TEST(Record, CountsAsJsonWhatExactRecordsToTheByte) {
  const Workplace place;
  const fs::path counts = place.path("counts.json");
  const std::vector<std::string> command = {"ls", "-R", "/usr/share/doc/libc6"};
  std::vector<std::string> words = {"record", "--count", "-o", counts.string(), "--"};
  words.insert(words.end(), command.begin(), command.end());
  fs::create_symlink("behind.json", counts);
  const Finished counted = memduel(place, words);
  ASSERT_EQ(counted.status, 0) << counted.err;
  EXPECT_TRUE(fs::is_symlink(counts)) << "what -o names keeps being what it was";
  const auto json = nlohmann::json::parse(read_file(counts));
  EXPECT_EQ(json.at("schema"), "memduel.counts/1");
  EXPECT_EQ(json.at("command"), command);
  ASSERT_EQ(json.at("images").size(), 1U);
  words = {"record", "--exact", "-o", place.path("exact.mdp").string(), "--"};
  words.insert(words.end(), command.begin(), command.end());
  ASSERT_EQ(memduel(place, words).status, 0);
  const auto exact = profile_in(place, place.path("exact.mdp"));
  double bytes = 0;
  double blocks = 0;
  for (const auto& site : exact.at("sites")) {
    if (site.at("heap") != "malloc") continue;
    bytes += site.at("allocated").at("bytes").get<double>();
    blocks += site.at("allocated").at("count").get<double>();
  }
  const auto& image = json.at("images").at(0);
  EXPECT_EQ(image.at("allocated_bytes"), bytes);
  EXPECT_EQ(image.at("allocation_count"), blocks);
  EXPECT_EQ(image.at("exact_within_bytes"), 0);
  EXPECT_EQ(image.at("ended_by_itself"), true);
}

TEST(Record, LeavesGitUnharmed) {
  const Workplace place;
  const std::string repository = place.path("repository").string();
  const std::string git = "git -C " + repository;
  ASSERT_EQ(std::system(("git init -q " + repository + " && for i in 1 2 3; do " + git +
                         " -c user.name=a -c user.email=a@b commit -q --allow-empty -m subject-$i; "
                         "done")
                            .c_str()),
            0);
  const Finished run = record(place, {"--exact"}, {"git", "-C", repository, "log", "--format=%s"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.out, "subject-3\nsubject-2\nsubject-1\n");
  expect_sensible(place, "git", "setlocale");  // its own names are stripped
}

/// One interpreter of each version that the recorder knows.
std::vector<fs::path> pythons() {
  std::vector<fs::path> found;
  const char* home = std::getenv("HOME");
  const fs::path versions = fs::path(home == nullptr ? "/" : home) / ".pyenv/versions";
  for (const std::string version : {"3.11", "3.12", "3.13"}) {
    fs::path python = "/usr/bin/python" + version;
    if (!fs::exists(python) && fs::exists(versions)) {
      for (const auto& entry : fs::directory_iterator(versions))
        if (entry.path().filename().string().starts_with(version + "."))
          python = entry.path() / "bin/python3";
    }
    if (fs::exists(python)) found.push_back(python);
  }
  return found;
}

TEST(Record, FollowsAShellScriptToItsPython) {
  const Workplace place;
  ASSERT_THAT(pythons(), Not(IsEmpty()));
  const fs::path python = pythons().front();
  const std::string shim =
      place.file("python3", "#!/bin/sh\nexec " + python.string() + " \"$@\"\n");
  fs::permissions(shim, fs::perms::owner_all);
  const Finished run =
      record(place, {"--exact"}, {shim, "-c", "import json; print(json.dumps([6*7]))"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.out, "[42]\n");
  EXPECT_THAT(run.err, HasSubstr("the largest of 2 processes by peak heap and mappings: " +
                                 place.path("out.2.mdp").string()));
  expect_sensible(place, python.filename().string(), ";_find_and_load;");
}

/// Bytes by the innermost frame in Python.
std::map<std::string, double> by_function(const nlohmann::json& profile, const std::string& peak) {
  std::map<std::string, double> bytes;
  for (const auto& entry : profile.at(peak).at("sites")) {
    auto node = profile.at("sites").at(entry.at("site").get<std::size_t>()).at("stack").get<int>();
    std::string function;
    for (; node != 0 && function.empty(); node = profile.at("stacks").at(node).at(0).get<int>()) {
      const auto& frame =
          profile.at("locations").at(profile.at("stacks").at(node).at(1).get<int>());
      if (frame.at("kind") == "python") function = frame.at("names").at(0).at("function");
    }
    bytes[function] += entry.at("bytes").get<double>();
  }
  return bytes;
}

TEST(Record, RanksHeapAndMappingsOfAPythonProgramInOneList) {
  const Workplace place;
  const std::string script = place.file("known.py", R"(import mmap
MIB = 1 << 20
def blocks():
    return [bytearray(MIB) for _ in range(20)]
def objects():
    return [bytes(95) for _ in range(200_000)]  # of 128 bytes by pymalloc, beside a list
def private(touched):
    at = mmap.mmap(-1, 32 * MIB, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    for page in range(0, touched, 4096): at[page] = 1
    return at
def reserves(): return private(0)
def mapped(): return private(24 * MIB)
def halves():
    kept = [mmap.mmap(-1, MIB, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) for _ in range(16)]
    for at in kept:
        for page in range(0, MIB // 2, 4096): at[page] = 1
    return kept
def transient():
    bytearray(50 * MIB)
kept = [blocks(), objects(), reserves(), mapped(), halves()]
transient()
kept.clear()
)");
  ASSERT_EQ(record(place, {"--exact"}, {"/usr/bin/python3", script}).status, 0);
  const auto bytes = by_function(profile_in(place, place.path("out.mdp")), "together_peak");
  constexpr double kMiB = 1 << 20;
  const auto of = [&](const std::string& name) {
    const auto found = bytes.find(name);
    return found == bytes.end() ? 0.0 : found->second;
  };
  EXPECT_NEAR(of("transient"), 50 * kMiB, 0.01 * 50 * kMiB);
  EXPECT_NEAR(of("blocks") + of("blocks.<locals>.<listcomp>"), 20 * kMiB, 0.01 * 20 * kMiB);
  EXPECT_NEAR(of("private"), 24 * kMiB, 0.01 * 24 * kMiB) << "and not the 64 MiB that it mapped";
  EXPECT_NEAR(of("halves") + of("halves.<locals>.<listcomp>"), 8 * kMiB, 64 * 1024)
      << "of 16 MiB, which small mappings have, half is touched";
  // Arenas of 1 MiB hold the objects, of which the first and the last belong to others in part.
  EXPECT_NEAR(of("objects") + of("objects.<locals>.<listcomp>"), 200'000 * (128 + 8), 3 * kMiB);
  const Finished summary = memduel(place, {"summary", place.path("out.mdp").string()});
  EXPECT_THAT(summary.out,
              ContainsRegex("Top stacks: peak of heap and mappings, 1[0-9.]+ MiB\n   1. 50.0 MiB"));
  EXPECT_THAT(summary.out, Not(HasSubstr("Top stacks: mappings")));
}

TEST(Record, PutsTheManyImagesOfALoopInAFolderAndNamesTheProgram) {
  const Workplace place;
  const std::string script =
      place.file("loop.sh",
                 "i=0; while [ $i -lt 20 ]; do /bin/echo $i >/dev/null; i=$((i+1)); done\n"
                 "exec /usr/bin/python3 -c 'kept = [bytes(2000) for _ in range(5000)]'\n");
  const Finished run = record(place, {}, {"/bin/sh", script});
  EXPECT_EQ(run.status, 0) << run.err;
  const fs::path folder = place.path("out.images");
  EXPECT_THAT(run.err, HasSubstr("the largest of 22 processes by peak heap and mappings: " +
                                 (folder / "22.mdp").string()));
  EXPECT_FALSE(fs::exists(place.path("out.2.mdp")));
  std::istringstream index(read_file(folder / "index.tsv"));
  std::vector<std::string> lines;
  for (std::string line; std::getline(index, line);) lines.push_back(line);
  ASSERT_THAT(lines, SizeIs(23)) << "a heading, the shell, twenty echoes, Python";
  EXPECT_THAT(lines[1], StartsWith("out.mdp\t"));
  EXPECT_THAT(lines[22], AllOf(StartsWith("22.mdp\t"), HasSubstr("/usr/bin/python3")));
  const std::string first = place.path("out.mdp").string();
  const Finished summary = memduel(place, {"summary", first});
  EXPECT_THAT(summary.out, AllOf(HasSubstr("program         /usr/bin/python3"),
                                 HasSubstr("22 of 22"), HasSubstr("out.images/22.mdp: /usr/bin/")));
  EXPECT_THAT(summary.err, HasSubstr("process 22 of 22 and the largest by peak heap and mappings"));
  const Finished shell = memduel(place, {"summary", first, "--process", "1"});
  EXPECT_THAT(shell.out, HasSubstr("1 of 22"));
  EXPECT_EQ(shell.err, "");
  EXPECT_THAT(memduel(place, {"summary", first, "--process", "3"}).out, HasSubstr("/bin/echo"));
  EXPECT_THAT(memduel(place, {"export", first, "--format", "folded"}).out, HasSubstr("<listcomp>"));
  const Finished none = memduel(place, {"summary", first, "--process", "23"});
  EXPECT_EQ(none.status, 2);
  EXPECT_THAT(none.err, HasSubstr("expected a process from 1 to 22, found 23"));
  const Finished second =
      memduel(place, {"summary", (folder / "3.mdp").string(), "--process", "4"});
  EXPECT_EQ(second.status, 2);
  EXPECT_THAT(second.err, HasSubstr("the file is itself process 3 of 22"));
  // A smaller recording of the same name leaves nothing of the larger one.
  const std::string notes = place.file("out.images/notes.txt", "a user's own");
  ASSERT_EQ(record(place, {}, {"/bin/true"}).status, 0);
  EXPECT_FALSE(fs::exists(folder / "22.mdp"));
  EXPECT_FALSE(fs::exists(folder / "index.tsv"));
  EXPECT_TRUE(fs::exists(notes));
}

TEST(Record, PutsImagesBesideTheFirstWhereTheFoldersNameIsTaken) {
  const Workplace place;
  const std::string mine = place.file("out.images", "a user's own");
  const Finished run = record(
      place, {}, {"/bin/sh", "-c", "for i in 1 2 3 4 5 6 7 8 9 10; do /bin/echo $i; done; exit 7"});
  EXPECT_EQ(run.status, 7) << run.err;
  EXPECT_EQ(read_file(mine), "a user's own");
  EXPECT_TRUE(fs::exists(place.path("out.11.mdp")));
}

/// Bytes in the cells of the retention matrix that stacks with `names`, outermost first and side by
/// side, account for.
std::map<std::pair<int, int>, double> retained(const nlohmann::json& profile,
                                               const std::vector<std::string>& names,
                                               const std::string& phase) {
  const auto name_of = [&profile](std::uint32_t stack) {
    return profile.at("locations").at(profile.at("stacks")[stack][1].get<int>()).at("text");
  };
  const auto fits = [&](std::uint32_t stack) {
    for (; stack != 0; stack = profile.at("stacks")[stack][0]) {
      std::uint32_t at = stack;
      std::size_t left = names.size();
      while (at != 0 && left > 0 &&
             name_of(at).get<std::string>().find(names[left - 1]) != std::string::npos) {
        --left;
        at = profile.at("stacks")[at][0];
      }
      if (left == 0) return true;
    }
    return false;
  };
  std::map<std::pair<int, int>, double> cells;
  for (const auto& cell : profile.at("retention")) {
    for (const auto& amount : cell.at("sites")) {
      const auto& site = profile.at("sites")[amount.at("site").get<int>()];
      if (profile.at("phases")[site.at("phase").get<int>()] != phase) continue;
      if (!fits(site.at("stack"))) continue;
      cells[{cell.at("born"), cell.at("end")}] += amount.at("bytes").get<double>();
    }
  }
  return cells;
}

void expect_a_triangle(const std::map<std::pair<int, int>, double>& cells) {
  ASSERT_THAT(cells, SizeIs(15)) << "five rows of a triangle";
  for (const auto& [cell, bytes] : cells)
    EXPECT_EQ(bytes, kRoundBytes) << "born in " << cell.first << ", live after " << cell.second;
}

TEST(Record, NamesALeakFivePythonFunctionsDeep) {
  ASSERT_THAT(pythons(), Not(IsEmpty()));
  for (const fs::path& python : pythons()) {
    SCOPED_TRACE(python.string());
    const Workplace place;
    const Finished run =
        record(place, {"--exact"},
               {"env", "MEMDUEL_ANNOTATE_DIR=" + kSources + "/include/memduel", python.string(),
                kSources + "/tests/programs/recorder/leaks_in_python.py"});
    ASSERT_EQ(run.status, 0) << run.err;
    const auto profiles = profiles_in(place);
    const auto found = profiles.find(python.filename().string());
    ASSERT_NE(found, profiles.end());
    const std::vector<std::string> deep = {"one", "two", "three", "four", "fifth_keeps_it"};
    double leaked = 0;
    for (const FoldedLine& line : folded_lines(exported(place, found->second, "folded", "peak"))) {
      const auto at = std::search(line.frames.begin(), line.frames.end(), deep.begin(), deep.end());
      if (at != line.frames.end() && line.bytes >= kRoundBytes) leaked += line.bytes;
    }
    EXPECT_EQ(leaked, 5 * kRoundBytes);
    auto cells = retained(profile_in(place, found->second), deep, "upload");
    // The list that keeps the blocks grows as well, by a few words.
    for (auto& [cell, bytes] : cells) {
      EXPECT_LT(bytes - kRoundBytes, 200);
      bytes = std::min(bytes, kRoundBytes);
    }
    expect_a_triangle(cells);
    EXPECT_THAT(memduel(place, {"summary", found->second.string()}).out,
                AllOf(HasSubstr("allocated in 5 rounds, 256.0 KiB per round, phase upload"),
                      HasSubstr("fifth_keeps_it")));
  }
}

/// A C++ program that leaks 256 KiB per round in phase upload, recorded once.
class RecordedLeak : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    place_ = new Workplace;
    const Finished run = record(*place_, {"--exact"}, {kPrograms + "/leaks_in_upload"});
    ASSERT_EQ(run.status, 0) << run.err;
  }
  static void TearDownTestSuite() { delete place_; }
  static std::string profile() { return place_->path("out.mdp").string(); }
  static const Workplace& place() { return *place_; }

 private:
  static inline Workplace* place_ = nullptr;
};

TEST_F(RecordedLeak, IsNamedByPhaseAndFunction) {
  const auto json = profile_in(place(), profile());
  expect_a_triangle(retained(json, {"leak_in_upload"}, "upload"));
  const std::string summary = memduel(place(), {"summary", profile()}).out;
  const std::size_t leak =
      summary.find("1.25 MiB allocated in 5 rounds, 256.0 KiB per round, phase upload");
  ASSERT_NE(leak, std::string::npos) << summary;
  EXPECT_THAT(summary.substr(leak, 300), HasSubstr("leak_in_upload"));
}

TEST_F(RecordedLeak, HasItsPhasesPeaksInTheSummary) {
  const std::string summary = memduel(place(), {"summary", profile()}).out;
  const std::size_t table = summary.find("\nPeaks by phase");
  ASSERT_NE(table, std::string::npos) << summary;
  // What four or five uploads have left is more than the cache and a block of train.
  EXPECT_THAT(summary.substr(table, summary.find("\n\n", table) - table),
              testing::ContainsRegex("  train .*round    5 .*leak_in_upload.*\n"
                                     "  upload .*round    5 .*leak_in_upload"));
}

TEST_F(RecordedLeak, IsExportedInEveryFormat) {
  double leaked = 0;
  for (const FoldedLine& line : folded_lines(exported(place(), profile(), "folded", "live")))
    if (line.frames.back().find("leak_in_upload") != std::string::npos) leaked += line.bytes;
  EXPECT_EQ(leaked, 5 * kRoundBytes);
  EXPECT_THAT(exported(place(), profile(), "pprof"), StartsWith("\x1f\x8b"));
  const std::string file = place().path("p.pb.gz").string();
  EXPECT_EQ(memduel(place(), {"export", profile(), "--format", "pprof", "-o", file}).out, "");
  EXPECT_EQ(read_file(file), exported(place(), profile(), "pprof"));
}

TEST_F(RecordedLeak, BecomesAPageBesideTheProfile) {
  const std::string page = place().path("out.html").string();
  const Finished run = memduel(place(), {"flamegraph", profile()});
  EXPECT_EQ(run.out, page + "\n") << run.err;
  EXPECT_THAT(read_file(page), AllOf(StartsWith("<!doctype html>"), HasSubstr("memduel-data")));
  const Finished difference = memduel(place(), {"flamegraph", profile(), "--diff", profile(), "-o",
                                                place().path("d.html").string()});
  EXPECT_EQ(difference.status, 0) << difference.err;
}

TEST_F(RecordedLeak, IsRefusedInWaysThatSayWhy) {
  const Finished missing = memduel(place(), {"summary", place().path("none.mdp").string()});
  EXPECT_EQ(missing.status, 4);
  EXPECT_THAT(missing.err, HasSubstr("none.mdp"));
  const std::string text = place().file("text.mdp", "this is not a profile at all");
  EXPECT_EQ(memduel(place(), {"flamegraph", text}).status, 4);
  const Finished kind =
      memduel(place(), {"export", profile(), "--format", "folded", "--kind", "peek"});
  EXPECT_EQ(kind.status, 2);
  EXPECT_THAT(kind.err, HasSubstr("peak"));
  EXPECT_EQ(memduel(place(), {"export", profile(), "--format", "svg"}).status, 2);
}

TEST(Export, RefusesAKindThatTheProfileLacks) {
  const Workplace place;
  // One sample per TiB: nothing is sampled, only counted.
  ASSERT_EQ(record(place, {"--interval", "1TiB"}, {"/bin/true"}).status, 0);
  const std::string profile = place.path("out.mdp").string();
  const Finished run = memduel(place, {"export", profile, "--format", "folded", "--kind", "live"});
  EXPECT_EQ(run.status, 4);
  EXPECT_THAT(run.err, HasSubstr("live"));
}

TEST(Record, ReturnsTheCommandsStatusOrItsOwnFailure) {
  const Workplace place;
  EXPECT_EQ(record(place, {}, {"sh", "-c", "exit 7"}).status, 7);
  EXPECT_EQ(record(place, {}, {"sh", "-c", "kill -9 $$"}).status, 137);
  EXPECT_EQ(record(place, {}, {"/nowhere/program"}).status, 125);
  EXPECT_EQ(memduel(place, {"record", "--bogus", "--", "true"}).status, 125);
  EXPECT_EQ(memduel(place, {"record", "--exact", "--count", "--", "true"}).status, 125);
  EXPECT_EQ(memduel(place, {"record"}).status, 125);
  EXPECT_EQ(memduel(place, {"record", "-o", "/nowhere/x.mdp", "--", "true"}).status, 125);
}

// What goes on in the background was not ended, and certainly not by a signal.
TEST(Record, SaysThatADaemonStillRuns) {
  const Workplace place;
  const Finished run =
      memduel(place, {"record", "-o", place.path("d.mdp").string(), "--", "/bin/sh", "-c",
                      "/usr/bin/python3 -c 'import time; kept = bytearray(8 << 20); "
                      "open(\"" +
                          place.path("up").string() +
                          "\", \"w\"); time.sleep(3)' >&- 2>&- & "
                          "while [ ! -e " +
                          place.path("up").string() + " ]; do sleep 0.05; done"});
  EXPECT_EQ(run.status, 0);
  EXPECT_THAT(run.err, AllOf(HasSubstr("still running; the rest is not recorded"),
                             Not(HasSubstr("signal"))));
}

// As daemons do; with a lower limit than the recorder's numbers it could not open its file again.
TEST(Record, KeepsStacksAndCountersOfAProgramThatClosesEveryDescriptor) {
  const Workplace place;
  const std::string profile = place.path("closed.mdp").string();
  const std::string script =
      "import os; os.closerange(3, 65536); kept = [bytearray(1 << 20) for _ in range(40)]";
  for (const bool few : {false, true}) {
    const Finished run = memduel(place, {"record", "--exact", "-o", profile, "--", "/bin/sh", "-c",
                                         (few ? "ulimit -n 256; " : "ulimit -n 1024; ") +
                                             ("exec /usr/bin/python3 -c '" + script + "'")});
    EXPECT_EQ(run.status, 0) << run.err;
    const std::string python = place.path("closed.2.mdp").string();
    EXPECT_GE(profile_in(place, python).at("counters").at("peak_bytes"), 40 << 20) << few;
    const Finished folded =
        memduel(place, {"export", python, "--format", "folded", "--kind", "peak"});
    if (few) {
      EXPECT_THAT(run.err, HasSubstr("events lost"));
    } else {
      EXPECT_THAT(run.err, Not(HasSubstr("lost")));
      EXPECT_THAT(folded.out, HasSubstr("PyByteArray_Resize"));
    }
  }
}

/// Its child, which has 40 MiB of the parent's, allocates 12 by itself.
const std::string kForksAndAllocates = R"(
import os
kept = bytearray(40 << 20)
def in_child():
    return bytearray(12 << 20)
if os.fork() == 0:
    own = in_child()
    os._exit(0)
os.wait()
)";

TEST(Record, TellsTheOwnMemoryOfAForkedProcessFromItsParents) {
  const Workplace place;
  const Finished run =
      memduel(place, {"record", "--exact", "-o", place.path("out.mdp").string(), "--",
                      "/usr/bin/python3", "-S", place.file("forks.py", kForksAndAllocates)});
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.err,
              ContainsRegex("\\(4[01]\\.[0-9] MiB inherited at the fork, 12\\.0 MiB its own\\)"));
  EXPECT_THAT(run.err,
              ContainsRegex("largest of 2 processes by peak heap and mappings: [^ ]*out\\.mdp"))
      << "what the child inherited does not make it larger than its parent";
  const Finished summary = memduel(place, {"summary", place.path("out.2.mdp").string()});
  EXPECT_EQ(summary.status, 0) << summary.err;
  EXPECT_THAT(summary.out,
              ContainsRegex("inherited +4[01]\\.[0-9] MiB +from its parent at the fork"));
  EXPECT_THAT(summary.out, ContainsRegex("its own +12\\.0 MiB"));
  EXPECT_THAT(summary.out, ContainsRegex("1\\. 12\\.0 MiB [^\n]*\n +in_child"));
}

TEST(Record, CountsWithoutLeavingAFile) {
  const Workplace place;
  const Finished run = memduel(place, {"record", "--count", "--", kPrograms + "/leaks_in_upload"});
  EXPECT_EQ(run.status, 0);
  EXPECT_THAT(run.err, HasSubstr("live at end"));
  for (const auto& entry : fs::directory_iterator(place.path(".")))
    EXPECT_NE(entry.path().extension(), ".mdp");
}

TEST(Record, SaysWhyAProgramIsNotRecorded) {
  const Workplace place;
  EXPECT_THAT(record(place, {}, {"/sbin/ldconfig", "--version"}).err, HasSubstr("static"));
  EXPECT_THAT(record(place, {}, {"/usr/bin/passwd", "--help"}).err, HasSubstr("setuid"));
  EXPECT_THAT(record(place, {}, {kPrograms + "/brings_malloc"}).err, HasSubstr("its own malloc"));
}

TEST(Record, HandsATerminationToTheCommandAndKeepsItsProfile) {
  const Workplace place;
  const std::string ready = place.path("ready").string();
  Running running(place,
                  {"record", "--exact", "-o", place.path("out.mdp").string(), "--", "sh", "-c",
                   "trap 'exit 9' TERM; touch " + ready + "; while :; do sleep 0.1; done"});
  for (int i = 0; i < 600 && !fs::exists(ready); ++i) usleep(50'000);
  running.signal(SIGTERM);
  EXPECT_EQ(running.wait().status, 9);
  EXPECT_TRUE(fs::exists(place.path("out.mdp")));
}

}  // namespace
}  // namespace memduel
