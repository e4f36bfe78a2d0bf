#include "left_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "readers/plain_source.h"
#include "util/error.h"
#include "util/file.h"

namespace memduel {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class LeftFiles : public testing::Test {
 protected:
  void leave(const std::string& name, const std::string& text = "x") const {
    write_file_atomically(folder_.path() / name, text);
  }
  [[nodiscard]] std::vector<std::string> kept_names() const {
    std::vector<std::string> names;
    for (const LeftFile& left : left_files(folder_.path())) {
      std::string name = std::to_string(left.of.image) + ":" + std::to_string(left.of.pid);
      if (left.of.round) name += ":" + std::to_string(*left.of.round);
      names.push_back(name);
    }
    return names;
  }
  ScratchDirectory folder_{testing::TempDir(), "left files"};
};

TEST_F(LeftFiles, ImagesAreNumberedInTheOrderTheyStartedAndRoundsFollow) {
  leave("900-7");
  leave("900-7.round10");
  leave("900-7.round2");
  leave("1000-7");  // the same process, after it executed another program
  leave("80-12");
  EXPECT_THAT(kept_names(), ElementsAre("1:12", "2:7", "2:7:2", "2:7:10", "3:7"));
}

TEST_F(LeftFiles, AForkedChildIsAnImageOfItsOwn) {
  leave("900-7");
  leave("900-7.12");
  leave("900-7.python");
  EXPECT_THAT(kept_names(), ElementsAre("1:7", "2:12"));
}

TEST_F(LeftFiles, OtherFilesAndEmptyOnesAreLeftOut) {
  leave("900-7", "");
  for (const char* name : {"900-7.tool.0001.heap", "900-7.round0", "900-7.round", "900-", "-7",
                           "a-7", "900-7.round3x", "99999999999999999999999-7"})
    leave(name);
  fs::create_directory(folder_.path() / "5-5");
  EXPECT_THAT(kept_names(), IsEmpty());
  EXPECT_THAT(left_files(folder_.path() / "none"), IsEmpty());
}

TEST_F(LeftFiles, AnImageWithoutAnEndIsMissed) {
  leave("900-7.round1", "one");
  leave("950-8", "whole");
  const ScratchDirectory to(testing::TempDir(), "kept");
  const KeptProfiles kept = keep_dumps(folder_.path(), [&](const LeftProfile& left) {
    return to.path() / (std::to_string(left.image) + (left.round ? "r" : ""));
  });
  EXPECT_EQ(read_file(to.path() / "1r"), "one");
  EXPECT_EQ(read_file(to.path() / "2"), "whole");
  EXPECT_EQ(kept.files.size(), 2U);
  EXPECT_THAT(kept.missing, ElementsAre(HasSubstr("process 7 was killed")));
  EXPECT_THAT(keep_dumps(folder_.path(), {}).missing, ElementsAre(HasSubstr("left no profile")));
}

TEST_F(LeftFiles, OnlyWholeLinesArePacked) {
  std::string lines;
  for (int i = 0; i < 300'000; ++i) lines += "line " + std::to_string(i) + "\n";  // several pieces
  leave("1-1", lines + "half a li");
  keep_packed_lines(folder_.path(),
                    [&](const LeftProfile&) { return folder_.path() / "packed.zst"; });
  PlainSource source(folder_.path() / "packed.zst");
  std::string unpacked;
  while (const auto line = source.line()) unpacked += std::string(*line) + "\n";
  EXPECT_EQ(unpacked, lines);
  EXPECT_LT(fs::file_size(folder_.path() / "packed.zst"), lines.size() / 2);
}

TEST_F(LeftFiles, APlaceThatCannotBeWrittenIsNamed) {
  leave("1-1");
  for (const auto keep : {keep_dumps, keep_packed_lines}) {
    try {
      keep(folder_.path(), [&](const LeftProfile&) { return folder_.path() / "none/there"; });
      ADD_FAILURE() << "there is no such folder";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::io);
      EXPECT_THAT(error.where(), HasSubstr("none/there"));
    }
  }
}

}  // namespace
}  // namespace memduel
