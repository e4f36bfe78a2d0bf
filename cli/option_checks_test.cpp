#include "cli/option_checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <stdexcept>

#include "util/error.h"

namespace memduel::cli {
namespace {

constexpr CommandForm kTrials{1, "act with trials"};
constexpr CommandForm kFiles{2, "act of two files"};
constexpr std::array kRows = {OptionOfForms{"--repeats", 1, "takes no trials", "omit it"},
                              OptionOfForms{"--quiet", 3}};

class Forms : public testing::Test {
 protected:
  Forms() {
    app_.add_option("--repeats", repeats_);
    app_.add_flag("--quiet", quiet_);
    app_.add_option("WHAT", what_);
  }
  int repeats_ = 0;
  bool quiet_ = false;
  std::string what_;
  CLI::App app_{"about", "act"};
};

TEST_F(Forms, HonourTheirOptions) {
  app_.parse("--repeats 3 --quiet x");
  EXPECT_NO_THROW(refuse_options_of_other_forms(app_, kTrials, kRows));
}

TEST_F(Forms, RefuseThoseOfOthersWithTheReason) {
  app_.parse("--quiet");
  EXPECT_NO_THROW(refuse_options_of_other_forms(app_, kFiles, kRows)) << "it was not given";
  app_.parse("--repeats 3");
  try {
    refuse_options_of_other_forms(app_, kFiles, kRows);
    FAIL() << "--repeats was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    EXPECT_EQ(error.message(), "--repeats: act of two files takes no trials\n  omit it");
  }
}

TEST_F(Forms, KnowEveryOption) {
  app_.add_flag("--new");
  app_.parse("");
  EXPECT_THROW(refuse_options_of_other_forms(app_, kTrials, kRows), std::logic_error);
}

TEST(ShareOf, TakesPercentFromTheLeastTo1000) {
  EXPECT_DOUBLE_EQ(share_of("15%", "--headroom", "15%", 0), 0.15);
  EXPECT_DOUBLE_EQ(share_of("0%", "--headroom", "15%", 0), 0);
  EXPECT_DOUBLE_EQ(share_of("1000%", "--headroom", "15%", 0), 10);
  for (const char* text : {"", "%", "15", "15 %", "15%%", "-1%", "1000.1%", "nan%", "inf%", "much"})
    EXPECT_THROW(share_of(text, "--headroom", "15%", 0), Error) << text;
  EXPECT_THROW(share_of("0%", "--detect", "2%", 1e-6), Error);
}

}  // namespace
}  // namespace memduel::cli
