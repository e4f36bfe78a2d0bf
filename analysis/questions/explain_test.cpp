#include "analysis/questions/explain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/values/synthetic_run.h"
#include "analysis/verdicts/analyse.h"

namespace memduel {
namespace {

using testing::HasSubstr;

Results results() {
  return analyse(
      make_duel("peak_rss_bytes", {200e6, 201e6, 199e6, 202e6, 198e6, 200e6, 201e6, 199e6},
                {100e6, 101e6, 99e6, 102e6, 98e6, 100e6, 101e6, 99e6}),
      {});
}

TEST(Explain, TellsVerdictValuesEffectTestAndTail) {
  const std::string text = explain(results(), "tree.peak_rss_bytes");
  EXPECT_THAT(text, HasSubstr("b against a"));
  EXPECT_THAT(text, HasSubstr("Verdict: improved, strong"));
  EXPECT_THAT(text, HasSubstr("-50.0 %"));
  EXPECT_THAT(text, HasSubstr("all 64 differences"));
  EXPECT_THAT(text, HasSubstr("a share of 0.0078"));
  EXPECT_THAT(text, HasSubstr("fewer than 31 %"));
  EXPECT_THAT(text, HasSubstr("Gate tree.peak_rss_bytes<=+1%: passed"));
}

TEST(Explain, NamesTheNearestRow) {
  try {
    explain(results(), "tree.peak_rss_byte");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    EXPECT_THAT(error.message(), HasSubstr("did you mean 'tree.peak_rss_bytes'?"));
  }
}

}  // namespace
}  // namespace memduel
