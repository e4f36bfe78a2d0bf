#include "rounds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "optimizations/aggregation.h"
#include "optimizations/test_counted_bytes.h"
#include "support/worker_runs.h"
#include "util/error.h"

namespace memduel {
namespace {

using ::testing::ElementsAre;

TEST(SharesOf, AreEqualOrBySampleSize) {
  EXPECT_THAT(shares_of("equal", {30, 0, 10, 0}), ElementsAre(0.25, 0.25, 0.25, 0.25));
  EXPECT_THAT(shares_of("sample_size", {30, 0, 10}), ElementsAre(0.75, 0, 0.25));
}

TEST(SharesOf, NoSamplesAtAllAreNoShares) {
  EXPECT_THROW(shares_of("sample_size", {0, 0}), Error);
}

using ::testing::HasSubstr;

State numbers(float value, std::int64_t count) {
  return {{"weight", torch::full({3}, value)}, {"batches", torch::full({1}, count, torch::kLong)}};
}

/// A round of two clients whose model is zero.
class WeightedRoundsTest : public ::testing::TestWithParam<const char*> {
 protected:
  WeightedRoundsTest() : model_{nullptr, numbers(0, 0), {"weight"}} {}

  Rounds& rounds() {
    if (!rounds_) {
      const nlohmann::json changes = {{"aggregate", GetParam()}, {"piece_bytes", kPiece}};
      chosen_ = preset("nvflare-original", changes);
      config_ = test_run_config(::testing::TempDir(), {"nvflare-original", workload_, changes});
      rounds_ = make_weighted_rounds(config_, chosen_, model_);
      rounds_->begin(model_.state);
    }
    return *rounds_;
  }

  Upload take(int client, double weight, const State& state) {
    Rounds& all = rounds();
    RecordedCall call(upload_of(state, *chosen_.framing), kPiece);
    CallFrame frame(Side::server);
    return all.take(client, weight, call, frame);
  }

  [[nodiscard]] float weight() const { return model_.state[0].tensor[0].item<float>(); }
  [[nodiscard]] std::int64_t batches() const {
    return model_.state[1].tensor[0].item<std::int64_t>();
  }

  nlohmann::json workload_ = nlohmann::json::object();
  Optimizations chosen_;
  WorkerConfig config_;
  const Model model_;
  std::unique_ptr<Rounds> rounds_;
};

INSTANTIATE_TEST_SUITE_P(Both, WeightedRoundsTest, ::testing::Values("collect_all", "in_time"));

TEST_P(WeightedRoundsTest, TheMeanIsWeightedAndIntegersAreCutBack) {
  std::vector<Upload> uploads;
  uploads.push_back(take(1, 1, numbers(1, 7)));
  uploads.push_back(take(2, 3, numbers(5, 4)));
  rounds().average(uploads, {});
  EXPECT_FLOAT_EQ(weight(), 4);  // (1 × 1 + 3 × 5) / 4
  EXPECT_EQ(batches(), 4);       // 4.75
}

TEST_P(WeightedRoundsTest, TheNextRoundStartsAnew) {
  for (const float value : {2.0F, 8.0F}) {
    std::vector<Upload> uploads;
    uploads.push_back(take(1, 1, numbers(value, 0)));
    rounds().average(uploads, {});
    EXPECT_FLOAT_EQ(weight(), value);
  }
}

TEST_P(WeightedRoundsTest, DifferencesAreTakenFromTheModel) {
  workload_ = {{"send", "gradient"}};
  std::vector<Upload> uploads;
  uploads.push_back(take(1, 1, numbers(1, 6)));
  uploads.push_back(take(2, 1, numbers(2, 6)));
  rounds().average(uploads, {});
  EXPECT_FLOAT_EQ(weight(), -1.5);
  EXPECT_EQ(batches(), 6);
}

TEST_P(WeightedRoundsTest, ANumberThatIsNotFiniteIsRefusedNamingClientAndTensor) {
  const auto play = [&] {
    std::vector<Upload> uploads;
    uploads.push_back(take(2, 1, numbers(std::numeric_limits<float>::infinity(), 0)));
    rounds().average(uploads, {});
  };
  try {
    play();
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_THAT(error.message(), HasSubstr("client-2"));
    EXPECT_THAT(error.message(), HasSubstr("weight"));
  }
}

// A share cannot be taken out of the total again.
TEST_P(WeightedRoundsTest, ALostClientsShareIsInNoMean) {
  std::vector<Upload> uploads;
  take(1, 1, numbers(100, 0));
  uploads.push_back(take(2, 1, numbers(6, 0)));
  if (rounds().takes_turns()) {
    EXPECT_THROW(rounds().average(uploads, {}), ClientLost);
    EXPECT_FLOAT_EQ(weight(), 0);
    uploads.clear();
    uploads.push_back(take(2, 1, numbers(6, 0)));
  }
  rounds().average(uploads, {});
  EXPECT_FLOAT_EQ(weight(), 6);
}

}  // namespace
}  // namespace memduel
