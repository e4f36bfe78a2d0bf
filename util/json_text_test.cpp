#include "util/json_text.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace memduel {
namespace {

struct Inner {
  std::string name;
  std::int64_t count = 0;
};

struct Outer {
  std::string zone;
  std::vector<Inner> inner;
  std::map<std::string, double> amounts;
  std::vector<std::vector<double>> rows;
  bool flag = false;
};

}  // namespace

template <>
inline constexpr auto kDescription<Inner> =
    described("Inner", text_or_null("name", &Inner::name), always("count", &Inner::count));

template <>
inline constexpr auto kDescription<Outer> = described(
    "Outer", always("zone", &Outer::zone), always("inner", &Outer::inner),
    always("amounts", &Outer::amounts), always("rows", &Outer::rows), if_set("flag", &Outer::flag));

namespace {

template <typename T>
std::string text_of(const T& value, int indent) {
  JsonText text(indent);
  text.write(value);
  return text.text();
}

template <typename T>
std::string text_by_nlohmann(const T& value, int indent) {
  return written(value).dump(indent, ' ', false, nlohmann::json::error_handler_t::replace);
}

TEST(JsonText, HasTheBytesOfNlohmannsDump) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<Outer> values = {
      {},
      {"a \"quoted\"\\ line\n", {{"", -1}, {"é\x7f", INT64_MIN}}, {}, {{}}, true},
      {"bad \xff utf-8",
       {{"plain", INT64_MAX}},
       {{"", 0.1}, {"b", kNan}, {"c", -0.0}, {"d", 1e300}, {"e", 5e-324}, {"f", 123456789012.0}},
       {{1, 2.5}, {kNan, 9007199254740993.0}, {0.30000000000000004, 1e21, 1e15, 1e-5}},
       false}};
  for (const int indent : {-1, 0, 1, 4}) {
    EXPECT_EQ(text_of(values, indent), text_by_nlohmann(values, indent));
    for (const Outer& value : values)
      EXPECT_EQ(text_of(value, indent), text_by_nlohmann(value, indent));
  }
}

TEST(JsonText, ContinuesALine) {
  JsonText text(2, 4);
  text.write(Inner{"a", 1});
  EXPECT_EQ(text.text(), "{\n      \"count\": 1,\n      \"name\": \"a\"\n    }");
}

TEST(JsonText, OfAListInPiecesIsTheSame) {
  const std::vector<Inner> list(5'000, {"a name", 7});
  JsonText whole(1, 2);
  whole.write(list);
  JsonText pieces(1, 2);
  std::string joined;
  std::size_t longest = 0;
  pieces.write_pieces(list, [&](std::string_view piece) {
    joined += piece;
    longest = std::max(longest, piece.size());
  });
  EXPECT_EQ(joined, whole.text());
  EXPECT_LT(longest, whole.text().size() / 2);
}

}  // namespace
}  // namespace memduel
