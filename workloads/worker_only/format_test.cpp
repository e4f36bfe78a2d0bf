// The stand-in for {fmt}; what it should print is what {fmt} 9.1 prints.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace memduel {
namespace {

TEST(WorkerOnlyFormat, PrintsEveryKindOfArgument) {
  EXPECT_EQ(fmt::format("no field"), "no field");
  EXPECT_EQ(fmt::format("{} {} {}", "a", std::string("b"), std::string_view("c")), "a b c");
  EXPECT_EQ(fmt::format("{}|{}|{}", -3, 7U, std::size_t{18446744073709551615U}),
            "-3|7|18446744073709551615");
  EXPECT_EQ(fmt::format("{}", std::numeric_limits<std::int64_t>::min()), "-9223372036854775808");
  EXPECT_EQ(fmt::format("{}{}", true, 'x'), "truex");
  EXPECT_EQ(fmt::format("{} {} {}", 0.1, 1.5F, 1e300), "0.1 1.5 1e+300");
  EXPECT_EQ(fmt::format("{}", std::nan("")), "nan");
  EXPECT_EQ(fmt::format("{{{}}} {{}}", 1), "{1} {}");
}

TEST(WorkerOnlyFormat, FollowsTheSpecificationsThatAreUsed) {
  EXPECT_EQ(fmt::format("{:.0f} {:.1f} {:.2f}", 2.5, 0.25, 3.14159), "2 0.2 3.14");
  EXPECT_EQ(fmt::format("{:+.1f} {:+.1f}", 2.0, -41.04), "+2.0 -41.0");
  EXPECT_EQ(fmt::format("{:02} {:08x}", 5, 0x803U), "05 00000803");
  EXPECT_EQ(fmt::format("{:g} {:.4g}", 0.5, 123456.0), "0.5 1.235e+05");
}

TEST(WorkerOnlyFormat, JoinsRanges) {
  EXPECT_EQ(fmt::format("[{}]", fmt::join(std::vector<std::int64_t>{3, 4}, ", ")), "[3, 4]");
  EXPECT_EQ(fmt::format("{}", fmt::join(std::vector<std::string>{"a", "a"}, "-")), "a-a");
  EXPECT_EQ(fmt::format("<{}>", fmt::join(std::vector<std::string>{}, "-")), "<>");
}

TEST(WorkerOnlyFormat, RefusesAFieldWithoutAnArgument) {
  EXPECT_THROW(fmt::format("{} {}", 1), std::runtime_error);
  EXPECT_THROW(fmt::format("{", 1), std::runtime_error);
}

}  // namespace
}  // namespace memduel
