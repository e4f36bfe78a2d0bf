// The report's JSON, and the TypeScript types of it that the page is compiled with.

#include "model_json.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "test_golden.h"
#include "test_sample_run.h"
#include "util/reflection.h"

namespace memduel {

/// Declares each described type once, those it is made of first.
class TypeScript {
 public:
  template <Described T>
  void declare() {
    const std::string name(kDescription<T>.name);
    if (!declared_.insert(name).second) return;
    std::string body;
    for_each_field<T>([&](const auto& field) {
      using Member = std::remove_cvref_t<decltype(std::declval<T>().*field.member)>;
      const bool missing = field.presence == Presence::if_set;
      body += fmt::format("  {}{}: {}{};\n", field.name, missing ? "?" : "", type<Member>(),
                          field.presence == Presence::text_or_null ? " | null" : "");
    });
    text_ += fmt::format("\nexport interface {} {{\n{}}}\n", name, body);
  }

  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  template <typename T>
  std::string type() {
    if constexpr (WrittenAsAnother<T>) {
      return type<std::remove_cvref_t<decltype(as_written(std::declval<const T&>()))>>();
    } else if constexpr (Described<T>) {
      declare<T>();
      return std::string(kDescription<T>.name);
    } else if constexpr (Named<T>) {
      std::string names;
      for (const auto& [value, name] : kNameTable<T>)
        names += fmt::format("{}\"{}\"", names.empty() ? "" : " | ", name);
      return names;
    } else if constexpr (OptionalValue<T>) {
      return type<typename T::value_type>() + " | null";
    } else if constexpr (DictionaryValue<T>) {
      return fmt::format("Record<string, {}>", type<typename T::mapped_type>());
    } else if constexpr (PairValue<T>) {
      return fmt::format("[{}, {}]", type<typename T::first_type>(),
                         type<typename T::second_type>());
    } else if constexpr (std::is_same_v<T, bool>) {
      return "boolean";
    } else if constexpr (std::is_arithmetic_v<T>) {
      return "number";
    } else if constexpr (std::is_same_v<T, std::string>) {
      return "string";
    } else if constexpr (std::is_same_v<T, nlohmann::json>) {
      return "Record<string, unknown>";
    } else {
      const std::string item = type<typename T::value_type>();
      return item.find(' ') == std::string::npos ? item + "[]" : fmt::format("({})[]", item);
    }
  }

  std::set<std::string> declared_;
  std::string text_;
};

namespace {

std::string report_types() {
  TypeScript types;
  types.declare<Results>();
  types.declare<ReportModel>();
  types.declare<ReportExtras>();
  return "// Made from the field lists of reports/model_json.h and\n"
         "// bench/verdict/include/verdict/result_files.h, where units and meanings are said. Do "
         "not edit.\n" +
         types.text();
}

TEST(ReportJson, TheViewersTypesAreTheFieldsOfTheReport) {
  expect_golden("../../../templates/src/report_types.ts", report_types());
}

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
