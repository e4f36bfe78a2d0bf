#include "experiment/config/arm_matrix.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace memduel {
namespace {

using nlohmann::json;
using testing::HasSubstr;

json expanded(const json& arms) {
  json document = {{"arms", arms}};
  expand_arm_matrices(document, "c.json");
  return document["arms"];
}

std::string refusal(const json& arms) {
  try {
    expanded(arms);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.message();
  }
  return "no error";
}

TEST(ArmMatrix, IsAnArmForEveryCombinationInTheOrderOfTheAxes) {
  const json arms = expanded(
      {{{"name", "base"}},
       {{"name", "glibc"},
        {"allocator", "glibc"},
        {"optimizations", {{"cleanup", "none"}}},
        {"matrix",
         {{{"2", {{"optimizations", {{"arenas", 2}}}}},
           {"8", {{"optimizations", {{"arenas", 8}}}}}},
          {{"gc-1", {{"optimizations", {{"gc", 1}}}}}, {"gc-5", {{"env", {{"N", "5"}}}}}}}}}});
  ASSERT_EQ(arms.size(), 5U);
  EXPECT_EQ(arms[0], json({{"name", "base"}}));
  EXPECT_EQ(arms[1], json({{"name", "glibc-2-gc-1"},
                           {"allocator", "glibc"},
                           {"optimizations", {{"cleanup", "none"}, {"arenas", 2}, {"gc", 1}}}}));
  EXPECT_EQ(arms[4], json({{"name", "glibc-8-gc-5"},
                           {"allocator", "glibc"},
                           {"optimizations", {{"cleanup", "none"}, {"arenas", 8}}},
                           {"env", {{"N", "5"}}}}));
}

TEST(ArmMatrix, WhatIsNoListOfAxesIsRefusedWithItsPlace) {
  const auto with = [](const json& matrix) {
    return json::array({{{"name", "a"}, {"matrix", matrix}}});
  };
  EXPECT_THAT(refusal(with(3)), HasSubstr("c.json, $.arms[0].matrix: found no axes"));
  EXPECT_THAT(refusal(with(json::array())), HasSubstr("found no axes"));
  EXPECT_THAT(refusal(with(json::array({json::object()}))),
              HasSubstr("$.arms[0].matrix[0]: found no names"));
  EXPECT_THAT(refusal(with(json::array({{{"x", 1}}}))),
              HasSubstr("$.arms[0].matrix[0].x: found no object"));
  EXPECT_THAT(refusal(with(json::array({{{"x", {{"name", "b"}}}}}))), HasSubstr("found a name"));
  EXPECT_THAT(refusal(json::array({{{"matrix", {{{"x", json::object()}}}}}})),
              HasSubstr("found no name before it"));
}

TEST(ArmMatrix, MoreArmsThanAConfigMayHaveAreRefused) {
  json axis = json::object();
  for (int i = 0; i < 9; ++i) axis[std::to_string(i)] = json::object();
  EXPECT_THAT(refusal(json::array({{{"name", "a"}, {"matrix", {axis, axis}}}})),
              HasSubstr("found a matrix of 81 arms, expected at most 64"));
}

}  // namespace
}  // namespace memduel
