#include "profilers/profile/names/stack_names.h"

#include <gmock/gmock.h>

namespace memduel {
namespace {

using testing::ElementsAre;

std::vector<std::string> texts(const NamedStack& stack, const FunctionNames& names) {
  std::vector<std::string> result;
  for (const std::uint32_t number : stack) result.push_back(names.name(number));
  return result;
}

TEST(WithoutClone, TakesAwayWhatCompilersAppend) {
  EXPECT_EQ(without_clone("grow(unsigned long) [clone .constprop.0]"), "grow(unsigned long)");
  EXPECT_EQ(without_clone("read_all(int) [clone .part.0] [clone .cold]"), "read_all(int)");
  EXPECT_EQ(without_clone("grow.isra.0"), "grow");
  EXPECT_EQ(without_clone("grow.part.0.constprop.1"), "grow");
  EXPECT_EQ(without_clone("grow.cold"), "grow");
  EXPECT_EQ(without_clone("grow.llvm.1234567"), "grow");
}

TEST(WithoutClone, LeavesNamesThatOnlyLookLikeOne) {
  EXPECT_EQ(without_clone("cold.coldest"), "cold.coldest");
  EXPECT_EQ(without_clone("f<std::array<int, 2> >::part(int)"),
            "f<std::array<int, 2> >::part(int)");
  EXPECT_EQ(without_clone(".cold"), ".cold");
}

TEST(StackNames, ForgetsPlacesAndFoldsRecursion) {
  Profile profile;
  profile.locations = {
      {ProfileLocation::Kind::native, std::nullopt, 1, {{"main", "a.cpp", 3}}},
      // walk() inlined into itself, then called once more
      {ProfileLocation::Kind::native, std::nullopt, 2, {{"walk", "a.cpp", 9}, {"walk", "", 0}}},
      {ProfileLocation::Kind::native, std::nullopt, 3, {{"walk", "a.cpp", 12}}},
      {ProfileLocation::Kind::python, std::nullopt, 0, {{"Server.fit", "/srv/fl/server.py", 7}}}};
  profile.stacks = {{}, {0, 0}, {1, 1}, {2, 2}, {3, 3}};
  FunctionNames names;
  const StackNames stacks(profile, names);
  EXPECT_THAT(texts(stacks.of(4), names), ElementsAre("main", "walk", "Server.fit (server.py)"));
  EXPECT_EQ(stacks.functions().size(), 3U);
}

/// Four frames without a name: two of the program, one of a library, one of nothing.
Profile nameless_profile(const std::string& build_id) {
  Profile profile;
  profile.info["program"] = "/opt/a/bin/job";
  profile.modules = {{"/opt/a/bin/job", build_id, 0, 0, 0},
                     {"/usr/lib/libfoo.so.1.2", "", 0, 0, 0}};
  profile.locations = {{ProfileLocation::Kind::native, 0, 0x10, {}},
                       {ProfileLocation::Kind::native, 0, 0x20, {}},
                       {ProfileLocation::Kind::native, 1, 0x30, {}},
                       {ProfileLocation::Kind::native, std::nullopt, 0x40, {}}};
  profile.stacks = {{}, {0, 0}, {1, 1}, {2, 2}, {3, 3}};
  return profile;
}

TEST(StackNames, GivesFramesWithoutANameTheirLibraryWhereAnotherToolDoes) {
  const Profile profile = nameless_profile("");
  FunctionNames names(Nameless::library);
  const NamedStack stack = StackNames(profile, names).of(4);
  EXPECT_THAT(texts(stack, names), ElementsAre("[program]", "[libfoo.so]", "[unknown]"));
  EXPECT_FALSE(names.is_function(stack.front()));
}

TEST(StackNames, KeepsThePlaceOfStrippedCode) {
  const Profile profile = nameless_profile("");
  FunctionNames names;
  const NamedStack stack = StackNames(profile, names).of(4);
  EXPECT_THAT(texts(stack, names),
              ElementsAre("job+0x10", "job+0x20", "libfoo.so.1.2+0x30", "[unknown]"));
  EXPECT_TRUE(names.is_function(stack.front()));
}

TEST(StackNames, TakesPlacesOfOneOffsetForOneInEqualBuildsOnly) {
  FunctionNames names;
  const Profile first = nameless_profile("aa");
  const Profile again = nameless_profile("aa");
  const Profile other = nameless_profile("bb");
  const NamedStack of_first = StackNames(first, names).of(1);
  EXPECT_EQ(StackNames(again, names).of(1), of_first);
  const NamedStack of_other = StackNames(other, names).of(1);
  EXPECT_NE(of_other, of_first);
  EXPECT_EQ(texts(of_other, names), texts(of_first, names));
}

}  // namespace
}  // namespace memduel
