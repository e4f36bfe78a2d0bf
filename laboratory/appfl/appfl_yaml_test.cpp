#include "laboratory/appfl/appfl_yaml.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace memduel {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string refusal(const std::string& text) {
  try {
    read_appfl_yaml(text, "a.yaml");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.message();
  }
  return "accepted";
}

TEST(AppflYaml, ValuesStandUnderDottedKeysWithTheirLines) {
  const auto values = read_appfl_yaml(
      "# comment\n"
      "server_configs:\n"
      "  num_clients: 2  # two\n"
      "  kwargs: {mode: \"equal\", sizes: [3, 4]}\n"
      "  nothing:\n"
      "  empty: {}\n",
      "a.yaml");
  ASSERT_EQ(values.size(), 6U);
  EXPECT_EQ(values[0].key, "server_configs.num_clients");
  EXPECT_EQ(values[0].line, 3);
  EXPECT_EQ(values[0].text, "2");
  EXPECT_EQ(values[1].key, "server_configs.kwargs.mode");
  EXPECT_EQ(values[1].text, "equal");
  EXPECT_EQ(values[3].key, "server_configs.kwargs.sizes.1");
  EXPECT_EQ(values[3].line, 4);
  EXPECT_EQ(values[4].text, std::nullopt);
  EXPECT_EQ(values[5].text, std::nullopt);
  EXPECT_EQ(values[0].place(), "a.yaml, line 3, server_configs.num_clients");
}

TEST(AppflYaml, AliasesAndMergeKeysAreFollowed) {
  const auto values = read_appfl_yaml(
      "base: &base {lr: 0.1, steps: 5}\n"
      "own:\n"
      "  <<: *base\n"
      "  lr: 0.2\n"
      "again: *base\n",
      "a.yaml");
  std::map<std::string, std::string> texts;
  for (const AppflValue& value : values) texts[value.key] = value.text.value_or("");
  EXPECT_EQ(texts.at("own.lr"), "0.2") << "what the mapping itself says comes first";
  EXPECT_EQ(texts.at("own.steps"), "5");
  EXPECT_EQ(texts.at("again.lr"), "0.1");
}

TEST(AppflYaml, FaultsNameFileAndLine) {
  EXPECT_THAT(refusal("a: 1\nb: [1, 2\n"),
              AllOf(HasSubstr("a.yaml, line "), HasSubstr("not valid YAML")));
  EXPECT_THAT(refusal("a: 1\n\tb: 2\n"), HasSubstr("not valid YAML"));
  EXPECT_THAT(refusal("- a\n- b\n"),
              AllOf(HasSubstr("line 1"), HasSubstr("found a list, expected a mapping")));
  EXPECT_THAT(refusal("just words"), HasSubstr("found a single value"));
  EXPECT_THAT(refusal(""), HasSubstr("empty"));
  EXPECT_THAT(refusal("# nothing\n"), HasSubstr("line 1"));
  EXPECT_THAT(refusal("a: 1\n---\nb: 2\n"), HasSubstr("second document"));
  EXPECT_THAT(refusal("a:\n  b: 1\n  c: 2\n  b: 3\n"),
              AllOf(HasSubstr("line 4"), HasSubstr("key \"b\" twice")));
  EXPECT_THAT(refusal("a: *nowhere\n"), HasSubstr("not valid YAML"));
  EXPECT_THAT(refusal(std::string("a: 1\nb: \x04\n")),
              AllOf(HasSubstr("line 2"), HasSubstr("0x04")));
  EXPECT_THAT(refusal("{a: 1, [b]: 2}"), HasSubstr("not a word"));
  EXPECT_THAT(refusal("a: 1\n<<: 3\n"), HasSubstr("no mapping"));
}

// Nine levels of nine aliases each: 9^9 values in under a kilobyte.
TEST(AppflYaml, AliasBombMeetsTheBound) {
  std::string text = "l0: &l0 [x, x, x, x, x, x, x, x, x]\n";
  for (int level = 1; level < 9; ++level) {
    const std::string one = "*l" + std::to_string(level - 1);
    text += "l" + std::to_string(level) + ": &l" + std::to_string(level) + " [" + one;
    for (int i = 1; i < 9; ++i) text += ", " + one;
    text += "]\n";
  }
  EXPECT_THAT(refusal(text), HasSubstr("expands to more than 10000 values"));
}

TEST(AppflYaml, MergeBombAndSelfReferenceMeetTheBound) {
  std::string text = "m0: &m0 {a: 1}\n";
  for (int level = 1; level < 12; ++level) {
    const std::string one = "*m" + std::to_string(level - 1);
    text += "m" + std::to_string(level) + ": &m" + std::to_string(level) + " {<<: [" + one;
    for (int i = 1; i < 9; ++i) text += ", " + one;
    text += "]}\n";
  }
  EXPECT_THAT(refusal(text), HasSubstr("more than"));
  EXPECT_THAT(refusal("a: &a [*a]\n"),
              ::testing::AnyOf(HasSubstr("nested deeper"), HasSubstr("not valid YAML")));
  EXPECT_THAT(
      refusal("a: &a {<<: *a, b: 1}\n"),
      ::testing::AnyOf(HasSubstr("deeper"), HasSubstr("deep"), HasSubstr("not valid YAML")));
}

TEST(AppflYaml, DeepNestingIsRefusedAndNotRecursedInto) {
  EXPECT_THAT(refusal("a: " + std::string(100'000, '[')), HasSubstr("a.yaml, line 1"));
  EXPECT_THAT(refusal("a: " + std::string(40, '[') + "x" + std::string(40, ']')),
              HasSubstr("nested deeper than 30 levels"));
  std::string keys;
  for (int level = 0; level < 50; ++level) keys += std::string(level, ' ') + "k:\n";
  EXPECT_THAT(refusal(keys + std::string(50, ' ') + "k: 1\n"),
              HasSubstr("nested deeper than 30 levels"));
}

// Found by the fuzzer: to YAML::LoadAll a comma outside of brackets is a document without end.
TEST(AppflYaml, StrayCommaDoesNotHang) {
  EXPECT_THAT(refusal("a: 1\n, b: 2\n"), HasSubstr("a.yaml, line 2"));
}

TEST(AppflYaml, HugeTextIsRefused) {
  EXPECT_THAT(refusal("a: " + std::string(300'000, 'x')), HasSubstr("expected at most 262144"));
}

}  // namespace
}  // namespace memduel
