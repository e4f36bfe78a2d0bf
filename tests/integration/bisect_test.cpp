// git bisect run memduel compare --bisect: the commit that added the memory, past one that does not
// build.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>

#include "foreign_repository.h"
#include "util/file.h"

namespace memduel {
namespace {

using testing::HasSubstr;

namespace fs = std::filesystem;

constexpr int kCommits = 8;
constexpr int kBroken = 3;  // does not build
constexpr int kLarger = 6;  // has 4 MiB more from here on

/// A program that allocates 8 MiB, or 12.
std::string program(int commit) {
  if (commit == kBroken) return "#error commit 3\n";
  const std::string mebibytes = commit >= kLarger ? "12" : "8";
  return "#include <stdlib.h>\n#include <string.h>\nint main(void) {\n  size_t size = " +
         mebibytes +
         "UL << 20;\n  char* kept = malloc(size);\n  memset(kept, 1, size);\n  return kept[" +
         std::to_string(commit) + "] - 1;\n}\n";
}

class Bisection : public testing::Test {
 protected:
  Bisection() {
    fs::create_directory(root_);
    git("init --quiet --initial-branch=main");
    for (int commit = 1; commit <= kCommits; ++commit) {
      write_file_atomically(root_ / "p.c", program(commit));
      git("add p.c");
      git("commit --quiet --message c" + std::to_string(commit));
      commits_.push_back(git("rev-parse HEAD"));
    }
  }

  std::string git(const std::string& arguments) {
    return output_of(
        "GIT_CONFIG_GLOBAL=/dev/null git -c user.name=t -c user.email=t@localhost -C " +
        root_.string() + " " + arguments);
  }
  /// The commit counted from 1.
  [[nodiscard]] const std::string& commit(int number) const {
    return commits_.at(static_cast<std::size_t>(number - 1));
  }
  /// compare of the first commit with `head`, and more.
  [[nodiscard]] std::vector<std::string> words(const std::string& head,
                                               const std::vector<std::string>& more = {}) const {
    std::vector<std::string> all = {"compare", "--ref-a",   commit(1), "--ref-b",
                                    head,      "--bisect",  "--build", "cc -o p p.c",
                                    "--quiet", "--repeats", "5"};
    all.insert(all.end(), more.begin(), more.end());
    all.insert(all.end(), {"--", "p"});
    return all;
  }
  [[nodiscard]] int status(const std::string& head,
                           const std::vector<std::string>& more = {}) const {
    return memduel(place_, words(head, more), root_).status;
  }

  Workplace place_;
  fs::path root_ = place_.path("repository");
  std::vector<std::string> commits_;
};

TEST_F(Bisection, NamesTheCommitThatAddedTheMemory) {
  std::string run = MEMDUEL_PROGRAM;
  for (const std::string& word : words("HEAD")) run += " '" + word + "'";
  git("bisect start " + commit(kCommits) + " " + commit(1));
  const std::string said = git("bisect run " + run + " 2>&1");
  EXPECT_THAT(said, HasSubstr(commit(kLarger) + " is the first bad commit"));
}

TEST_F(Bisection, StatusesAreThoseThatGitTakes) {
  EXPECT_EQ(status(commit(2)), 0);
  EXPECT_EQ(status(commit(kLarger)), 1) << "the default gates decide";
  EXPECT_EQ(status(commit(kLarger), {"--gate", "all.peak_heap_bytes<=+100%"}), 0)
      << "a named gate decides alone";
  EXPECT_EQ(status(commit(kBroken)), 125);
  EXPECT_EQ(status("nowhere"), 128);
  EXPECT_EQ(status(commit(2), {"--no-such-option"}), 128);
  EXPECT_EQ(status(commit(2), {"--export", "csv", "absent/x.csv"}), 125) << "a file failed";
}

TEST_F(Bisection, AProgramThatOnlyTheBaselineHasIsSkipped) {
  const std::vector<std::string> arguments = {
      "compare", "--ref-a",   commit(1),
      "--ref-b", commit(2),   "--bisect",
      "-S",      "--build",   "git log -1 --format=%s | grep -q c2 || cc -o p p.c",
      "--quiet", "--repeats", "3",
      "--",      "p"};
  EXPECT_EQ(memduel(place_, arguments, root_).status, 125);
}

TEST_F(Bisection, OfAFinishedRunTakesTheSameStatuses) {
  const std::string run = place_.path("run").string();
  EXPECT_EQ(status(commit(kLarger), {"--out", run}), 1);
  EXPECT_EQ(memduel(place_, {"check", run, "--bisect"}).status, 1);
  const auto check = [&](const std::string& gate) {
    return memduel(place_, {"check", run, "--bisect", "--gate", gate}).status;
  };
  EXPECT_EQ(check("all.peak_heap_bytes<=+100%"), 0);
  EXPECT_EQ(check("all.peak_gpu_reserved_bytes<=+1%"), 125) << "not measured";
  EXPECT_EQ(check("all.peak_heap_byte<=+1%"), 128) << "misspelt";
}

}  // namespace
}  // namespace memduel
