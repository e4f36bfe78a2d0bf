#include "fine_tuning_switches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/catalog_files.h"
#include "util/error.h"

namespace memduel {
namespace {

using ::testing::HasSubstr;

std::string refusal_of_fine_tuning(const std::string& name, const nlohmann::json& value) {
  nlohmann::json values = preset_values("cbramod-original");
  values[name] = value;
  try {
    make_fine_tuning_switches(values);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.message();
  }
  return "accepted";
}

TEST(FineTuningSwitches, TakeEveryValueOfTheCatalog) {
  for (const auto& one : switches_for("eeg"))
    for (const auto& value : one.at("values"))
      EXPECT_EQ(refusal_of_fine_tuning(one.at("name"), value.at("value")), "accepted")
          << one.at("name") << value;
}

TEST(FineTuningSwitches, RefusalsNameTheSwitchAndWhatItTakes) {
  EXPECT_THAT(refusal_of_fine_tuning("mixed_precision", "fp8"),
              HasSubstr("switches.mixed_precision: expected off, bf16, fp16, found \"fp8\""));
  EXPECT_THAT(refusal_of_fine_tuning("max_checkpoints", 0), HasSubstr("from 1 to"));
  EXPECT_THAT(refusal_of_fine_tuning("cleanup_every_epochs", -1), HasSubstr("found -1"));
  EXPECT_THAT(refusal_of_fine_tuning("memory_threshold_mb", 0.5), HasSubstr("found 0.5"));
}

}  // namespace
}  // namespace memduel
