#include <gmock/gmock.h>

#include "test_document.h"

namespace memduel {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

TEST(Stacks, AreTheFunctionsThatDifferMost) {
  const Table table = table_in(sample_document({.series = false, .differences = true}), "where");
  ASSERT_THAT(table.rows, SizeIs(2));
  // See add_differences in test_sample_run.cpp.
  EXPECT_EQ(texts_of(table.rows[0])[0], "−200.0 ± 4.0 MiB");
  EXPECT_EQ(texts_of(table.rows[0])[1], "91%");
  EXPECT_EQ(table.rows[0].cells[2].stack->function, "clone");
  EXPECT_EQ(table.rows[0].cells[2].stack->callers.front(), "aggregate");
  EXPECT_EQ(texts_of(table.rows[0])[3], "aggregate");
  EXPECT_EQ(texts_of(table.rows[1])[0], "+20.0 MiB");
}

TEST(Stacks, OfARuntimesMemoryHaveTheFunctionThatAskedForIt) {
  Sample sample = make_sample({.series = false, .differences = true});
  Difference& row = sample.results.differences.at(0);
  row.stack = {"<module> (a.py)", "read_rows (a.py)", "small Python objects"};
  row.location = "a.py:6";
  const std::string text = text_of_section(document_from(sample), "where");
  EXPECT_THAT(text, HasSubstr("read_rows (small Python objects) (a.py:6) ← <module> (a.py)"));
}

TEST(Stacks, HaveTheTitleOfATableOnce) {
  Sample sample = make_sample({.series = false, .differences = true});
  DifferenceTotal other = sample.results.difference_totals.at(0);
  other.role = "client-1";
  sample.results.difference_totals.push_back(other);
  GateResult gate = sample.results.gates.at(0);
  gate.role = "client-1";
  sample.results.gates.push_back(gate);
  const std::string text = text_of_section(document_from(sample), "where");
  const std::string title = "client-1 at its peak";
  ASSERT_THAT(text, HasSubstr(title));
  EXPECT_EQ(text.find(title), text.rfind(title)) << text;
}

}  // namespace
}  // namespace memduel
