#include <gmock/gmock.h>

#include <fstream>

#include "config/experiment.h"
#include "support/small_experiment.h"
#include "util/error.h"
#include "util/file.h"

namespace memduel {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

class SuiteFile : public testing::Test {
 protected:
  Suite load(const std::string& experiments) {
    std::ofstream(file_) << R"({"name": "s", "experiments": )" << experiments << "}";
    return load_suite(file_);
  }
  std::string refusal(const std::string& experiments) {
    try {
      load(experiments);
    } catch (const Error& error) {
      return error.message();
    }
    return {};
  }

  ScratchDirectory scratch_{testing::TempDir(), "suite"};
  std::filesystem::path file_ = scratch_.path() / "s.json";
};

TEST_F(SuiteFile, NamesConfigsFromItsOwnDirectory) {
  const Suite suite =
      load(R"([{"config": "../quickstart.json"}, {"config": "a.json", "name": "b"}])");
  ASSERT_THAT(suite.experiments, SizeIs(2));
  EXPECT_EQ(suite.experiments[0].name, "quickstart");
  EXPECT_EQ(suite.experiments[0].config, scratch_.path() / "../quickstart.json");
  EXPECT_EQ(suite.experiments[1].name, "b");
}

TEST_F(SuiteFile, AMatrixIsEveryCombinationInItsOrder) {
  const Suite suite = load(
      R"([{"config": "a.json", "set": {"measure.repeats": 3},
           "matrix": {"workload.clients": [2, 4], "workload.model": ["cnn", "resnet18"]}}])");
  ASSERT_THAT(suite.experiments, SizeIs(4));
  EXPECT_EQ(suite.experiments[0].name, "a-clients-2-model-cnn");
  EXPECT_EQ(suite.experiments[3].name, "a-clients-4-model-resnet18");
  EXPECT_THAT(suite.experiments[2].set,
              ElementsAre("measure.repeats=3", "workload.clients=4", "workload.model=\"cnn\""));
}

TEST_F(SuiteFile, AWrongValueIsRefusedAtItsPlace) {
  const auto refusal_of_last = [&](const std::string& experiments) {
    const SuiteExperiment part = load(experiments).experiments.back();
    Overrides overrides;
    overrides.set = part.set;
    overrides.set_places = part.set_places;
    return error_of([&] { parse_experiment(federated_config(), "c.json", "/", overrides); })
        .message();
  };
  const std::string file = file_.string();
  EXPECT_EQ(refusal_of_last("[{\"config\": \"a.json\",\n\"set\": {\"measure.repeats\": 0}}]"),
            "c.json, $.measure.repeats (" + file +
                ", line 2, $.experiments[0].set.measure.repeats): expected an integer from 1 to "
                "10000, found 0\n  Number of blocks (trials of each variant). Default: until "
                "decided, with interim analyses after 6, 10 and 16 blocks, or after 8 and 16 with "
                "two or more candidates.");
  EXPECT_THAT(refusal_of_last("[{\"config\": \"a.json\",\n\"matrix\": "
                              "{\"measure.repeats\": [1,\n0]}}]"),
              HasSubstr("c.json, $.measure.repeats (" + file +
                        ", line 3, $.experiments[0].matrix.measure.repeats[1]): expected an "
                        "integer from 1 to 10000, found 0"));
  EXPECT_THAT(refusal_of_last(R"([{"config": "a.json", "set": {"variants.x.cwd": "/"}}])"),
              HasSubstr(file + ", $.experiments[0].set.variants.x.cwd: no element is named \"x\""));
}

TEST_F(SuiteFile, AnUnknownVariantIsRefusedAtItsPlace) {
  const SuiteExperiment part =
      load("[{\"config\": \"a.json\",\n\"variants\": [\"original\", \"x\"]}]").experiments.front();
  EXPECT_THAT(part.variants, ElementsAre("original", "x"));
  Overrides overrides;
  overrides.arms = part.variants;
  overrides.arms_place = part.variants_place;
  EXPECT_THAT(
      error_of([&] { parse_experiment(federated_config(), "c.json", "/", overrides); }).message(),
      testing::StartsWith(file_.string() + ", line 2, $.experiments[0].variants: "));
  EXPECT_THAT(refusal(R"([{"config": "a.json", "variants": ["original"]}])"),
              HasSubstr("$.experiments[0].variants"));
}

TEST_F(SuiteFile, IsToldFromAnExperiment) {
  load(R"([{"config": "a.json"}])");
  EXPECT_TRUE(is_suite(file_));
  std::ofstream(file_) << R"({"name": "x", "variants": []} // an experiment)";
  EXPECT_FALSE(is_suite(file_));
}

TEST_F(SuiteFile, TwoOfOneNameAreRefusedWithBothPlaces) {
  EXPECT_THAT(refusal(R"([{"config": "a.json"}, {"config": "x/a.json"}])"),
              testing::AllOf(HasSubstr("$.experiments[1]"), HasSubstr("$.experiments[0]"),
                             HasSubstr("the name \"a\"")));
}

TEST_F(SuiteFile, AMatrixBeyondTheLimitIsRefusedBeforeItIsMade) {
  std::string values = "1";
  for (int i = 2; i <= 101; ++i) values += "," + std::to_string(i);
  EXPECT_THAT(refusal(R"([{"config": "a.json", "matrix": {"a": [)" + values + R"(], "b": [)" +
                      values + "]}}]"),
              testing::AllOf(HasSubstr("$.experiments[0].matrix"), HasSubstr("at most 200")));
}

TEST_F(SuiteFile, AnUnknownKeyIsRefusedWithTheNearest) {
  EXPECT_THAT(refusal(R"([{"config": "a.json", "matrx": {}}])"),
              testing::AllOf(HasSubstr("matrx"), HasSubstr("did you mean \"matrix\"")));
}

TEST_F(SuiteFile, NoExperimentIsRefused) {
  EXPECT_THAT(refusal("[]"), HasSubstr("$.experiments"));
}

}  // namespace
}  // namespace memduel
