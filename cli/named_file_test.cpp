#include "named_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "model/run_directory.h"
#include "util/error.h"
#include "util/file.h"

namespace memduel::cli {
namespace {

namespace fs = std::filesystem;

class NamedFiles : public testing::Test {
 protected:
  NamedFiles() {
    fs::create_directories(run_ / kProfilesFolder);
    write_file_atomically(run_ / kStoreFile, "trials");
    write_file_atomically(run_ / kResultsFile, "{}");
    write_file_atomically(run_ / kProfilesFolder / "1-server.mdp", "profile");
  }

  /// The exit code of the refusal; 0 where the file may be written.
  static int code_of(const fs::path& file, const Kept& kept = {}) {
    try {
      const NamedFile named(file, kept);
      return 0;
    } catch (const Error& error) {
      return static_cast<int>(error.code());
    }
  }

  ScratchDirectory scratch_{fs::temp_directory_path(), "memduel-test"};
  fs::path root_ = scratch_.path();
  fs::path run_ = root_ / "run";
};

TEST_F(NamedFiles, MayLieInARunsDirectoryUnderNamesOfTheirOwn) {
  for (const char* name : {"junit.xml", "results.txt", "profiles/1-server.html"})
    EXPECT_EQ(code_of(run_ / name), 0) << name;
  const NamedFile file(run_ / "junit.xml", {});
  file.write("<testsuite/>");
  EXPECT_EQ(read_file(run_ / "junit.xml"), "<testsuite/>");
}

TEST_F(NamedFiles, AreNeverFilesOfARunAlsoThoseThatAreNotThereYet) {
  for (const char* name :
       {kStoreFile, kResultsFile, kConfigFile, kReportFile, kLockFile, kCalibrationFile, kSuiteFile,
        kSuitePage, "run.sqlite-wal", "profiles/1-server.mdp", "profiles/new.mdp", "logs/1.stdout",
        "trials/1/x", "models/m", "files/f", "worktrees/a/x", "../run/run.sqlite", "./config.json",
        "logs/../results.json"})
    EXPECT_EQ(code_of(run_ / name), 2) << name;
}

TEST_F(NamedFiles, AreKnownByWhereLinksLead) {
  fs::create_directory_symlink(run_, root_ / "link");
  fs::create_symlink(run_ / kStoreFile, root_ / "store.xml");
  fs::create_symlink(run_ / kConfigFile, root_ / "dangling.xml");
  fs::create_symlink(root_ / "store.xml", root_ / "twice.xml");
  for (const char* name :
       {"link/run.sqlite", "link/config.json", "store.xml", "dangling.xml", "twice.xml"})
    EXPECT_EQ(code_of(root_ / name), 2) << name;
  EXPECT_EQ(code_of(root_ / "link/junit.xml"), 0);
}

TEST_F(NamedFiles, HardLinksIntoAKnownRunAreItsFiles) {
  fs::create_hard_link(run_ / kStoreFile, root_ / "hard.xml");
  EXPECT_EQ(code_of(root_ / "hard.xml", {{run_}, std::nullopt}), 2);
  EXPECT_EQ(code_of(root_ / "hard.xml", {{}, run_}), 2);
  // Elsewhere the name alone is replaced: the run keeps its file.
  const NamedFile other(root_ / "hard.xml", {});
  other.write("x");
  EXPECT_EQ(read_file(run_ / kStoreFile), "trials");
}

TEST_F(NamedFiles, OfARunThatIsNotThereYetAreReserved) {
  const Kept kept{{}, root_ / "later"};
  for (const char* name : {kStoreFile, kReportFile, "logs/x"})
    EXPECT_EQ(code_of(root_ / "later" / name, kept), 2) << name;
  EXPECT_EQ(code_of(root_ / "later/junit.xml", kept), 0) << "the run makes its directory";
  EXPECT_EQ(code_of(root_ / "later.shards/slurm.json", kept), 2);
  EXPECT_EQ(code_of(root_ / "later" / kStoreFile), 4) << "without the run there is no directory";
}

TEST_F(NamedFiles, AreNoInputs) {
  write_file_atomically(root_ / "config.json", "{}");
  fs::create_symlink(root_ / "config.json", root_ / "link.json");
  const Kept kept{{root_ / "config.json"}, std::nullopt};
  EXPECT_EQ(code_of(root_ / "config.json", kept), 2);
  EXPECT_EQ(code_of(root_ / "link.json", kept), 2);
  EXPECT_EQ(code_of(root_ / "config.json"), 0) << "no run is here";
}

TEST_F(NamedFiles, MustBeWritableBeforeTheWorkBegins) {
  EXPECT_EQ(code_of(root_), 2) << "a directory";
  EXPECT_EQ(code_of(root_ / "absent/x.xml"), 4);
  write_file_atomically(root_ / "file", "x");
  EXPECT_EQ(code_of(root_ / "file/x.xml"), 4);
  EXPECT_EQ(code_of("/dev/null"), 0);
  EXPECT_EQ(code_of("/dev/full"), 0) << "found out when it is written";
}

TEST_F(NamedFiles, AreDifferentFiles) {
  const std::string x = root_ / "x.xml";
  fs::create_symlink("x.xml", root_ / "same.xml");
  EXPECT_THROW(check_named_files({x, root_ / "same.xml"}, {}), Error);
  EXPECT_NO_THROW(check_named_files({x, root_ / "y.xml", "/dev/stdout", "/dev/stdout"}, {}));
}

TEST_F(NamedFiles, ADescriptorOfARunsFileIsThatFile) {
  const int descriptor = ::open((run_ / kStoreFile).c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_GE(descriptor, 0);
  EXPECT_EQ(code_of("/dev/fd/" + std::to_string(descriptor)), 2);
  ::close(descriptor);
}

}  // namespace
}  // namespace memduel::cli
