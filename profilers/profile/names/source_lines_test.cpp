#include "source_lines.h"

#include <gtest/gtest.h>

namespace memduel {
namespace {

LineAmounts lines(const std::string& file, const std::map<int, double>& amounts) {
  LineAmounts found;
  for (const auto& [line, amount] : amounts) found[{file, line}] = amount;
  return found;
}

int changed(const std::map<int, double>& less, const std::map<int, double>& more) {
  return changed_line(lines("/a/x.cpp", less), lines("/b/x.cpp", more)).line;
}

TEST(ChangedLine, IsTheOnlyOneOfTheSideThatHasMore) {
  EXPECT_EQ(changed({{5, 100}}, {{8, 130}}), 8);
  EXPECT_EQ(changed({}, {{8, 130}}), 8);
  EXPECT_EQ(changed({{5, 100}}, {}), 0) << "it has no line";
}

TEST(ChangedLine, IsTheNewOneThoughAnotherHasMore) {
  EXPECT_EQ(changed({{5, 100}}, {{5, 100}, {9, 20}}), 9);
  EXPECT_EQ(changed({{5, 100}}, {{6, 100}, {10, 20}}), 10) << "lines are shifted";
  EXPECT_EQ(changed({{5, 100}}, {{2, 20}, {6, 100}}), 2);
}

TEST(ChangedLine, IsTheOneThatGrewMostOfLinesThatAreShifted) {
  EXPECT_EQ(changed({{5, 100}, {7, 40}, {9, 10}}, {{15, 101}, {17, 42}, {19, 35}}), 19);
  EXPECT_EQ(changed({{5, 100}, {7, 40}}, {{5, 130}, {7, 45}}), 5);
}

TEST(ChangedLine, OfLinesWithEqualAmountsIsTheOneThatTheOtherSideLacks) {
  EXPECT_EQ(changed({{5, 100}, {9, 100}}, {{5, 100}, {7, 100}, {9, 100}}), 7);
}

TEST(ChangedLine, OfFarTooManyIsTheLargest) {
  std::map<int, double> less;
  std::map<int, double> more;
  for (int line = 1; line <= 1000; ++line) less[line] = more[line] = line;
  more[500] = 5000;
  EXPECT_EQ(changed(less, more), 500);
}

TEST(LocationText, IsRelativeToTheFirstDirectoryThatHasTheFile) {
  EXPECT_EQ(location_text({"/home/me/app/src/state.cpp", 88}, {"/home/me/app"}),
            "src/state.cpp:88");
  EXPECT_EQ(location_text({"/home/me/app/src/../lib/x.h", 3}, {"/tmp", "/home/me/app/"}),
            "lib/x.h:3");
  EXPECT_EQ(location_text({"/run/worktrees/a/src/x.cpp", 3}, {"/run/worktrees/a", "/run"}),
            "src/x.cpp:3");
  EXPECT_EQ(location_text({"/home/me/application/x.cpp", 3}, {"/home/me/app"}), "x.cpp:3");
  EXPECT_EQ(location_text({"/usr/include/c++/vector", 12}, {"/"}), "vector:12");
}

TEST(LocationText, OfARelativeFileIsItsPathUnlessThatLeadsOut) {
  EXPECT_EQ(location_text({"./jobs/train.py", 12}, {"/home/me"}), "jobs/train.py:12");
  EXPECT_EQ(location_text({"../other/train.py", 12}, {"/home/me"}), "train.py:12");
  EXPECT_EQ(location_text({"<string>", 1}, {}), "<string>:1");
}

TEST(LocationText, NamesThePackageOfAFileThatEachPackageHas) {
  EXPECT_EQ(location_text({"/usr/lib/python3.11/json/__init__.py", 346}, {}),
            "json/__init__.py:346");
  EXPECT_EQ(location_text({"/__init__.py", 1}, {}), "__init__.py:1");
}

TEST(LocationText, IsEmptyWithoutAFileAndHasNoLineWhereNoneIsKnown) {
  EXPECT_EQ(location_text({"", 12}, {}), "");
  EXPECT_EQ(location_text({"train.py", 0}, {}), "train.py");
}

TEST(StandardLibrary, IsBelowTheDirectoryOfAVersionOfPython) {
  EXPECT_TRUE(is_of_standard_library("/usr/lib/python3.11/csv.py"));
  EXPECT_TRUE(is_of_standard_library("/opt/py/lib/python3.13/json/decoder.py"));
  EXPECT_TRUE(is_of_standard_library("<frozen importlib._bootstrap>"));
  EXPECT_FALSE(is_of_standard_library("/venv/lib/python3.11/site-packages/flwr/app.py"));
  EXPECT_FALSE(is_of_standard_library("/usr/lib/python3/dist-packages/torch/nn.py"));
  EXPECT_FALSE(is_of_standard_library("/home/me/python3.11"));
  EXPECT_FALSE(is_of_standard_library("/home/me/csv.py"));
}

TEST(OwnLine, IsTheFirstThatTheStandardLibraryDoesNotHave) {
  const std::vector<SourceLine> lines = {{"/lib/python3.11/copy.py", 146},
                                         {"/lib/python3.11/json/__init__.py", 3},
                                         {"/home/me/train.py", 12},
                                         {"/home/me/main.py", 2}};
  const auto line_at = [&](std::size_t frame) { return lines[frame]; };
  EXPECT_EQ(own_line({0, 1, 2, 3}, line_at), lines[2]);
  EXPECT_EQ(own_line({0, 1}, line_at), lines[0]) << "all are the library's";
  EXPECT_EQ(own_line({3, 2}, line_at), lines[3]);
  EXPECT_EQ(own_line({}, line_at), SourceLine());
  EXPECT_EQ(own_line({0, 2}, [](std::size_t) { return SourceLine(); }), SourceLine());
}

}  // namespace
}  // namespace memduel
