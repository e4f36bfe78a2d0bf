#include "run/builds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "support/small_experiment.h"
#include "trial/processes.h"
#include "util/error.h"
#include "util/file.h"

namespace memduel {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

namespace fs = std::filesystem;

TEST(LibraryList, IsReadAsTheLinkerPrintsIt) {
  const auto libraries = parse_library_list(
      "\tlinux-vdso.so.1 (0x00007ffd4a5f2000)\n"
      "\tlibstore.so => /opt/my build (1)/lib/libstore.so (0x00007f1f6c000000)\n"
      "\tlibgone.so.2 => not found\n"
      "\t/opt/plain/libpath.so (0x00007f1f6be00000)\n"
      "\tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f1f6bc00000)\n"
      "\t/lib64/ld-linux-x86-64.so.2 (0x00007f1f6c200000)\n");
  std::vector<std::string> seen;
  for (const LoadedLibrary& library : libraries)
    seen.push_back(library.name + "=" + library.path.string());
  EXPECT_THAT(seen, ElementsAre("libstore.so=/opt/my build (1)/lib/libstore.so",
                                "libgone.so.2=", "/opt/plain/libpath.so=/opt/plain/libpath.so",
                                "libc.so.6=/lib/x86_64-linux-gnu/libc.so.6"));
}

TEST(LibraryList, OfARealProgramHasTheCLibraryAndAStaticOrForeignFileHasNone) {
  const BuildFile shell = read_build_file("/bin/sh", "/nowhere");
  EXPECT_TRUE(shell.is_elf);
  EXPECT_FALSE(shell.build_id.empty());
  std::vector<std::string> names;
  for (const LoadedLibrary& library : libraries_of(shell, "")) names.push_back(library.name);
  EXPECT_THAT(names, testing::Contains("libc.so.6"));
  const BuildFile text = read_build_file("/proc/self/status", "/nowhere");
  EXPECT_FALSE(text.is_elf);
  EXPECT_THAT(libraries_of(text, ""), IsEmpty());
}

BuildFile file_like(const std::string& build_id, const std::string& code) {
  BuildFile file;
  file.path = "/b/job";
  file.is_elf = true;
  file.build_id = build_id;
  file.code_sha256 = code;
  return file;
}

TEST(SameCode, IsTheSameBuildIdOrTheSameBytesInMemory) {
  EXPECT_TRUE(same_code(file_like("1a", "x"), file_like("1a", "y")));
  EXPECT_TRUE(same_code(file_like("1a", "x"), file_like("2b", "x")));
  EXPECT_FALSE(same_code(file_like("1a", "x"), file_like("2b", "y")));
  EXPECT_FALSE(same_code(file_like("", "x"), file_like("", "y")))
      << "no build id is not an equal one";
}

TEST(SameBuild, IsSameInEveryFileAndNeverSaidOfAScript) {
  BuildProgram a;
  a.files = {file_like("1a", "x"), file_like("2b", "y")};
  BuildProgram b = a;
  EXPECT_TRUE(same_build(a, b));
  b.files[1].build_id = "3c";
  b.files[1].code_sha256 = "z";
  EXPECT_FALSE(same_build(a, b));
  b = a;
  b.files.pop_back();
  EXPECT_FALSE(same_build(a, b)) << "one loads a library more";
  a.files = {file_like("", "x")};
  a.files[0].is_elf = false;
  EXPECT_FALSE(same_build(a, a)) << "what a script imports is not known";
}

class WorktreeFolders : public TestFolder {
 protected:
  /// The document's variants where the config lies in root/FOLDER.
  std::vector<Variant> started(Document document, const std::string& folder) {
    for (const char* each : {"root/jobs", "a/jobs", "b/jobs", "root/new", "b/new"})
      fs::create_directories(folder_ / each);
    BuildDuel duel;
    duel.document = std::move(document);
    start_in_worktrees(duel, {folder_ / "a", folder_ / "b"}, folder_ / "root",
                       folder_ / "root" / folder);
    return duel.document.variants;
  }
  [[nodiscard]] std::string at(const std::string& folder) const {
    return fs::weakly_canonical(folder_ / folder).string();
  }
  static Document job(const std::string& cwd_of_process = "") {
    Document document;
    document.variants.resize(2);
    document.workload.job.processes.resize(1);
    document.workload.job.processes[0].cwd = cwd_of_process;
    return document;
  }
};

TEST_F(WorktreeFolders, AreThoseThatTheConfigNamesInTheCheckout) {
  const auto variants = started(job(), "jobs");
  EXPECT_EQ(variants[0].cwd, at("a/jobs"));
  EXPECT_EQ(variants[1].cwd, at("b/jobs"));
  Document of_workload = job();
  of_workload.workload.job.cwd = "..";
  EXPECT_EQ(started(of_workload, "jobs")[1].cwd, at("b"));
  Document of_variants = job(".");
  for (Variant& variant : of_variants.variants) variant.cwd = "jobs";
  EXPECT_EQ(started(of_variants, "")[0].cwd, at("a/jobs"));
}

TEST_F(WorktreeFolders, AreNotTakenWhereTheConfigNamesOthers) {
  EXPECT_FALSE(started(job("x"), "jobs")[0].cwd);
  for (const char* cwd : {"{trial_dir}", "../../elsewhere"}) {
    Document document = job();
    document.workload.job.cwd = cwd;
    EXPECT_FALSE(started(document, "jobs")[1].cwd) << cwd;
  }
}

TEST_F(WorktreeFolders, MustBeInBoth) {
  try {
    started(job(), "new");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    EXPECT_EQ(error.where(), at("a/new"));
    EXPECT_THAT(error.advice(), HasSubstr("--keep"));
  }
}

TEST(ArmNameFor, KeepsWhatPeopleSayWhereItCanBeAName) {
  EXPECT_EQ(arm_name_for("main"), "main");
  EXPECT_EQ(arm_name_for("feature/small-buffer"), "feature-small-buffer");
  EXPECT_EQ(arm_name_for("v1.2_rc"), "v1.2_rc");
  for (const char* bad : {"", "HEAD~1", "-x", ".hidden", "ü", "a b"})
    EXPECT_EQ(arm_name_for(bad), std::nullopt) << bad;
  EXPECT_EQ(arm_name_for(std::string(41, 'x')), std::nullopt);
}

class MakeTest : public TestFolder {
 protected:
  int make(const std::string& command) {
    MakeOptions options;
    options.command = {{{"NUMBER", "7"}}, {"/bin/sh", "-c", command}};
    options.directory = folder_;
    options.log = folder_ / "log";
    options.stop = &stop_;
    return run_make(options);
  }
  [[nodiscard]] std::string log() const { return read_file(folder_ / "log"); }

  StopRequest stop_;
};

TEST_F(MakeTest, RunsInItsDirectoryWithItsEnvironmentAndLogsBothStreams) {
  EXPECT_EQ(make("pwd; echo $NUMBER >&2"), 0);
  EXPECT_EQ(log(), fs::canonical(folder_).string() + "\n7\n");
  EXPECT_EQ(make("exit 5"), 5);
  EXPECT_EQ(make("kill -9 $$"), 128 + SIGKILL);
}

/// One that has ended has no command line, also before somebody has waited for it.
bool has_command_line(const std::string& pid) {
  std::ifstream file("/proc/" + pid + "/cmdline");
  return file.peek() != std::ifstream::traits_type::eof();
}

TEST_F(MakeTest, CarriesTheNameByWhichALaterMemduelFindsIt) {
  EXPECT_EQ(make("echo $MEMDUEL_TRIAL"), 0);
  const std::string own = unique_trial_name(0);
  const std::string pid = "-" + std::to_string(::getpid()) + "-";
  EXPECT_THAT(log(), StartsWith(own.substr(0, own.find(pid)) + pid));
  EXPECT_FALSE(owner_has_ended(log().substr(0, log().find('\n'))));
}

TEST_F(MakeTest, EndsWhatIsLeftInTheBackground) {
  EXPECT_EQ(make("sleep 300 & echo $!; exit 5"), 5);
  const std::string pid = log().substr(0, log().find('\n'));
  ASSERT_FALSE(pid.empty());
  for (int i = 0; i < 500 && has_command_line(pid); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(has_command_line(pid));
}

TEST_F(MakeTest, DoesNotHandOnWhatGitTellsItsHooks) {
  ::setenv("GIT_DIR", "/elsewhere", 1);
  EXPECT_EQ(make("echo ${GIT_DIR-unset}"), 0);
  ::unsetenv("GIT_DIR");
  EXPECT_EQ(log(), "unset\n");
}

TEST_F(MakeTest, NamesAProgramThatIsNotThere) {
  MakeOptions options;
  options.command = {{}, {"no-such-builder", "all"}};
  options.directory = folder_;
  options.log = folder_ / "log";
  try {
    run_make(options);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    EXPECT_THAT(error.message(), HasSubstr("no-such-builder"));
  }
}

TEST_F(MakeTest, IsEndedByAStop) {
  const std::jthread stopper([this] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    stop_.take(SIGINT);
  });
  try {
    make("sleep 300");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::interrupted);
    EXPECT_EQ(error.message(), folder_.string() + ": stopped by a signal while building");
  }
  EXPECT_THROW(make("true"), Error);  // the next command of a build that was stopped
}

TEST_F(MakeTest, LastLinesAreFewAndShort) {
  ASSERT_EQ(make("for i in $(seq 100); do echo line $i; done; head -c 5000 /dev/zero | tr '\\0' x"),
            0);
  const std::string lines = last_lines(folder_ / "log");
  EXPECT_THAT(lines, StartsWith("; the last lines:\n    line 82\n"));
  EXPECT_LT(lines.size(), 1000U);
  ASSERT_EQ(make("true"), 0);
  EXPECT_EQ(last_lines(folder_ / "log"), lines) << "a log is appended to";
  ASSERT_EQ(make(": > '" + (folder_ / "log").string() + "'"), 0);
  EXPECT_EQ(last_lines(folder_ / "log"), "");
}

}  // namespace
}  // namespace memduel
