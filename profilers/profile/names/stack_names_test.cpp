#include "stack_names.h"

#include <gmock/gmock.h>

namespace memduel {
namespace {

using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

TEST(WithoutVersions, TakesAwayWhatLibrariesPutIntoNamespaces) {
  EXPECT_EQ(without_versions("nlohmann::json_abi_v3_11_2::detail::lexer<int>::scan()"),
            "nlohmann::detail::lexer<int>::scan()");
  EXPECT_EQ(without_versions("fmt::v9::vformat(fmt::v9::basic_string_view<char>)"),
            "fmt::vformat(fmt::basic_string_view<char>)");
  EXPECT_EQ(without_versions("absl::lts_20220623::Mutex::Lock()"), "absl::Mutex::Lock()");
  EXPECT_EQ(without_versions("icu_72::Locale::clone() const"), "Locale::clone() const");
  EXPECT_EQ(without_versions("std::vector<fmt::v10::context>::grow(int)"),
            "std::vector<fmt::context>::grow(int)");
}

TEST(WithoutVersions, LeavesWhatIsNoVersion) {
  for (const char* const name :
       {"v9(int)", "f::v9", "valve::open()", "v::open()", "lts_::f()", "nav2::f()", "json_v::f()",
        "::f()", "V8::f()", "a_v3_x::f()", "operator new(unsigned long)", ""})
    EXPECT_EQ(without_versions(name), name);
}

TEST(RenamedFunctions, AreFoundWhereEachSideHasOneOfItsOwn) {
  EXPECT_THAT(renamed_functions({"main", "fmt::v9::f()", "fmt::v9::g()"},
                                {"main", "fmt::v10::f()", "fmt::v10::h()"}),
              UnorderedElementsAre(Pair("fmt::v10::f()", "fmt::v9::f()")));
}

TEST(RenamedFunctions, MayHaveOtherArgumentsAndParameters) {
  EXPECT_THAT(
      renamed_functions({"Table<float>::grow(int)", "Table<int>::grow(int)", "read(char const*)"},
                        {"Table<double>::grow(int)", "Table<int>::grow(int)", "read(Path const&)"}),
      UnorderedElementsAre(Pair("Table<double>::grow(int)", "Table<float>::grow(int)"),
                           Pair("read(Path const&)", "read(char const*)")));
}

TEST(RenamedFunctions, WithOtherArgumentsAreFoundAmongOverloads) {
  EXPECT_THAT(
      renamed_functions(
          {"Json<int>::operator<(Json<int>)", "Json<int>::operator<(long)"},
          {"Json<int, void>::operator<(Json<int, void>)", "Json<int, void>::operator<(long)"}),
      UnorderedElementsAre(
          Pair("Json<int, void>::operator<(Json<int, void>)", "Json<int>::operator<(Json<int>)"),
          Pair("Json<int, void>::operator<(long)", "Json<int>::operator<(long)")));
}

TEST(RenamedFunctions, WithAVersionAreFoundBeforeOverloadsOfThem) {
  EXPECT_THAT(
      renamed_functions({"a::v1::f(int)", "a::v1::f(char)"}, {"a::v2::f(int)", "a::v2::f(char)"}),
      UnorderedElementsAre(Pair("a::v2::f(int)", "a::v1::f(int)"),
                           Pair("a::v2::f(char)", "a::v1::f(char)")));
}

TEST(RenamedFunctions, OfAnInterfaceThatBothSidesHaveAreTwoFunctions) {
  EXPECT_THAT(renamed_functions({"api::v1::f()", "api::v2::f()"}, {"api::v1::f()", "api::v2::f()"}),
              IsEmpty());
  EXPECT_THAT(renamed_functions({"api::v1::f()"}, {"api::v1::f()", "api::v2::f()"}), IsEmpty());
  // Which of the two would the third be?
  EXPECT_THAT(renamed_functions({"api::v1::f()", "api::v2::f()"}, {"api::v3::f()"}), IsEmpty());
  EXPECT_THAT(renamed_functions({"f(int)", "f(char)"}, {"f(long)"}), IsEmpty());
}

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
