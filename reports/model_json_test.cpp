#include "model_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "test_sample_run.h"

namespace memduel {
namespace {

TEST(ReportJson, TheTextWrittenInPiecesIsTheWholeDocument) {
  const ReportModel model = sample_model({.failed_trial = true, .profiles = true});
  std::string text;
  write_report_model(model, [&](std::string_view piece) { text += piece; });
  EXPECT_EQ(text, report_model_to_json(model).dump());
}

TEST(ReportJson, ASentenceIsItsPartsWithTheWordsThatCarryTheVerdict) {
  const nlohmann::json document = report_model_to_json(sample_model({}));
  const nlohmann::json& parts = document.at("headlines").at(0).at("sentence");
  ASSERT_EQ(parts.size(), 4);
  EXPECT_EQ(parts.at(1).at("mark"), "strong");
  EXPECT_THAT(parts.at(1).at("text").get<std::string>(), testing::EndsWith(" LESS"));
  EXPECT_EQ(parts.back(), nlohmann::json({{"text", "improved"}, {"mark", "verdict"}}));
}

TEST(ReportJson, AnEnvelopeIsGivenAsDifferencesOfItsMaxima) {
  ReportModel model;
  model.timelines.emplace_back().trials.push_back({7, {2, {1, 4, 3}, {5, 9, 6}}, {}});
  const nlohmann::json document = report_model_to_json(model);
  const nlohmann::json& envelope = document.at("timelines").at(0).at("trials").at(0).at("by_time");
  EXPECT_EQ(envelope.at("first"), 2);
  EXPECT_EQ(envelope.at("high"), nlohmann::json({5, 4, -3}));
  EXPECT_EQ(envelope.at("depth"), nlohmann::json({4, 5, 3}));
}

}  // namespace
}  // namespace memduel
