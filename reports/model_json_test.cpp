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

TEST(ReportJson, APartNamesItsKindAndATextIsItsRuns) {
  const nlohmann::json document = report_model_to_json(sample_model({})).at("document");
  EXPECT_EQ(document.at("answer"), "PASS");
  EXPECT_EQ(document.at("sentence").size(), 1);
  const nlohmann::json& table = document.at("first_screen").at(0).at("parts").at(0);
  EXPECT_EQ(table.at("kind"), "Table");
  const nlohmann::json& verdict = table.at("rows").at(1).at("cells").at(6).at("text").at(0);
  EXPECT_EQ(verdict, nlohmann::json({{"text", "improved"}, {"tone", "good"}}));
}

TEST(ReportJson, LeavesOutWhatOnlyTextShows) {
  const std::string page = report_model_to_json(sample_model({})).at("document").dump();
  EXPECT_EQ(page.find("--verbose"), std::string::npos);
  EXPECT_NE(page.find("RoundsChart"), std::string::npos);
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
