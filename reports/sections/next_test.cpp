#include <gmock/gmock.h>

#include "test_document.h"

namespace memduel {
namespace {

using testing::HasSubstr;

TEST(Next, IsASentenceAndACommand) {
  ReportModel model = build_report_model(make_sample({.series = false}).results,
                                         make_sample({.series = false}).run);
  model.results.first_screen.next_step = Suggestion{"Rerun with 9 trials each:", "memduel run x"};
  EXPECT_THAT(render_summary(document_of(model)),
              HasSubstr("Next:    Rerun with 9 trials each:\n  memduel run x\n"));
}

// As of a run that was cut off.
TEST(Next, HasTheCommandOfAWarning) {
  ReportModel model = build_report_model(make_sample({.series = false}).results,
                                         make_sample({.series = false}).run);
  model.results.warnings.push_back(
      {"cut_off", "the run is not complete", "resume it:\n  memduel run y --resume"});
  EXPECT_THAT(render_summary(document_of(model)),
              HasSubstr("the run is not complete; resume it:\n  memduel run y --resume\n"));
}

}  // namespace
}  // namespace memduel
