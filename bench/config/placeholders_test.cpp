#include "config/placeholders.h"

#include <gtest/gtest.h>

#include "support/small_experiment.h"

namespace memduel {
namespace {

const std::vector<std::string> kKnown = {"seed", "trial_dir", "port:NAME"};

std::optional<std::string> value(const std::string& name) {
  if (name == "seed") return "7";
  if (name == "trial_dir") return "/t/{seed}";
  if (name == "port:fl") return "20001";
  return std::nullopt;
}

std::string fill(const std::string& text) {
  return fill_placeholders(text, value, kKnown, "c.json, $.x");
}

TEST(Placeholders, AreReplacedOnceWhereverTheyStand) {
  EXPECT_EQ(fill("{seed}"), "7");
  EXPECT_EQ(fill("a{seed}b{port:fl}{seed}"), "a7b200017");
  EXPECT_EQ(fill("{trial_dir}/x"), "/t/{seed}/x") << "a value is not looked into";
}

TEST(Placeholders, OtherTextInBracesStays) {
  for (const std::string text :
       {"", "{", "}", "{}", "{ seed }", "{\"a\": {\"b\": 1}}", "{1}", "x{2,3}", "{Seed}", "{seed",
        "${seed}", "${HOME}", "{a,b}", "{a:b c}", "ü{é}"}) {
    EXPECT_EQ(fill(text), text);
  }
}

TEST(Placeholders, DoubledBracesAreTheTextItself) {
  EXPECT_EQ(fill("{{seed}}"), "{seed}");
  EXPECT_EQ(fill("f\"{{name}}\" {seed}"), "f\"{name}\" 7");
  EXPECT_EQ(fill("{{seed}"), "{7");
  EXPECT_EQ(fill("{{port:fl}}"), "{port:fl}");
}

TEST(Placeholders, AnUnknownOneIsRefusedWithTheNearest) {
  EXPECT_EQ(error_of([] { fill("--seed={sead}"); }).message(),
            "c.json, $.x: unknown placeholder {sead}, expected {seed}, {trial_dir}, {port:NAME}\n  "
            "did you mean {seed}? {{sead}} is the literal text");
  EXPECT_EQ(error_of([] { fill("{port:}"); }).code(), ExitCode::usage);
}

TEST(Placeholders, AProcessOfACountHasPortsOfItsOwn) {
  TrialPlaceholders trial(PlaceholderValues{});
  EXPECT_EQ(error_of([&] { trial.fill("{port:node-{index}}", "c.json"); }).code(), ExitCode::usage)
      << "nothing has an index here";
  trial.set_index(1);
  const std::string first = trial.fill("--port={port:node-{index}}", "c.json");
  trial.set_index(2);
  const std::string second = trial.fill("{port:node-{index}}", "c.json");
  EXPECT_EQ(first, "--port=" + std::to_string(trial.port("node-1")));
  EXPECT_EQ(second, std::to_string(trial.port("node-2")));
  EXPECT_EQ(trial.port("node-{index}"), trial.port("node-2"));
  EXPECT_NE(trial.port("node-1"), trial.port("node-2"));
}

TEST(Placeholders, InPatternsUnknownOnesStay) {
  EXPECT_EQ(fill_known_placeholders("\\p{greek} on {port:fl} x{2}", value),
            "\\p{greek} on 20001 x{2}");
}

}  // namespace
}  // namespace memduel
