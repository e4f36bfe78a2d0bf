#include "util/json.h"

#include <gtest/gtest.h>

#include <string>

namespace memduel {
namespace {

std::string nested(int depth) {
  return std::string(static_cast<std::size_t>(depth), '[') +
         std::string(static_cast<std::size_t>(depth), ']');
}

TEST(ForeignJson, ReadsWhatIsAsDeepAsPeopleWrite) {
  EXPECT_EQ(parse_foreign_json(R"({"a": [1, {"b": null}]})")["a"][0], 1);
  EXPECT_TRUE(parse_foreign_json(nested(200)).is_array());
}

TEST(ForeignJson, WhatIsDeeperOrNoJsonIsDiscarded) {
  EXPECT_TRUE(parse_foreign_json(nested(202)).is_discarded());
  EXPECT_TRUE(parse_foreign_json(nested(200'000)).is_discarded());
  EXPECT_TRUE(parse_foreign_json(std::string(200'000, '[')).is_discarded());
  EXPECT_TRUE(parse_foreign_json("{").is_discarded());
  EXPECT_TRUE(parse_foreign_json("").is_discarded());
}

}  // namespace
}  // namespace memduel
