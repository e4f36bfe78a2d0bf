#include "base/error.h"

#include <gtest/gtest.h>

namespace memduel {
namespace {

TEST(Error, MessageNamesThePlaceThenTheFaultThenTheAdvice) {
  const Error error(ExitCode::usage, "unknown key \"round\"", "quickstart.json: /workload",
                    "did you mean \"rounds\"?");
  EXPECT_EQ(error.message(),
            "quickstart.json: /workload: unknown key \"round\"\n  did you mean \"rounds\"?");
  EXPECT_EQ(error.code(), ExitCode::usage);
}

TEST(Error, MessageWithoutPlaceAndAdviceIsTheFaultAlone) {
  EXPECT_EQ(Error(ExitCode::io, "disk full").message(), "disk full");
}

}  // namespace
}  // namespace memduel
