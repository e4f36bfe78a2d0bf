#include "profilers/profile/names/renamed_functions.h"

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

}  // namespace
}  // namespace memduel
