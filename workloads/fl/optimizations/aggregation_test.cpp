// The fold against the average of whole states that it stands in for (aggregation.h): the same
// bits, whatever the weights, the pieces and the types are.
#include "aggregation.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <deque>

#include "fl/models.h"
#include "optimizations.h"
#include "rounds.h"
#include "support/catalog_files.h"
#include "transport/test_loop_call.h"

namespace memduel {
namespace {

/// Every kind of entry: a parameter of more than one block, one of doubles, batch normalization's
/// statistics and its counter, and 32-bit integers.
State some_state(std::uint64_t seed) {
  torch::manual_seed(seed);
  return {{"weight", torch::randn({70001})},
          {"fine", torch::randn({33}, torch::kDouble)},
          {"norm.running_mean", torch::randn({64})},
          {"norm.num_batches_tracked", torch::randint(1000, {1}, torch::kLong)},
          {"ids", torch::randint(1000, {5}, torch::kInt)}};
}
Model some_model() {
  return {nullptr, some_state(1), {"weight", "fine"}};
}

// Thirds and fifteenths have no exact double, and products with them round.
std::vector<double> shares(bool by_sample_size) {
  return shares_of(by_sample_size ? "sample_size" : "equal", {5, 7, 3});
}

struct UploadWeights {
  UploadKind upload = UploadKind::weights;
  bool by_sample_size = false;
};

State averaged_whole(const std::string& aggregate, const UploadWeights& how,
                     const std::vector<State>& uploads) {
  const Model model = some_model();
  const auto aggregator = make_aggregator(aggregate, model, how.upload);
  std::vector<Contribution> contributions;
  for (std::size_t i = 0; i < uploads.size(); ++i)
    contributions.push_back({static_cast<int>(i) + 1, shares(how.by_sample_size)[i], &uploads[i]});
  // Twice: the second round starts from what the first left.
  aggregator->aggregate(contributions);
  aggregator->aggregate(contributions);
  return model.state;
}

State folded(const UploadWeights& how, const std::vector<State>& uploads,
             const std::string& framing_name, std::size_t piece_bytes) {
  const Model model = some_model();
  const auto framing = make_framing(framing_name);
  const auto staging =
      make_staging("unlinked_file", state_bytes(model.state), ::testing::TempDir());
  for (int round = 0; round < 2; ++round) {
    std::deque<LoopCall> calls;
    std::vector<std::unique_ptr<ModelStream>> streams;
    std::vector<FoldInput> inputs;
    for (std::size_t i = 0; i < uploads.size(); ++i) {
      calls.emplace_back(1000);
      send(calls[i], framing->wrap_borrowed({}, borrow_state(uploads[i])), piece_bytes);
      streams.push_back(framing->open(calls[i]));
      streams.back()->read_table();
      inputs.push_back(
          {static_cast<int>(i) + 1, shares(how.by_sample_size)[i], streams.back().get()});
    }
    streaming_fold(model, model.state, inputs, how.upload, *staging);
  }
  return model.state;
}

TEST(StreamingFold, EqualsTheAverageOfWholeStatesBitForBit) {
  const std::vector<State> uploads = {some_state(2), some_state(3), some_state(4)};
  for (const UploadKind upload : {UploadKind::weights, UploadKind::difference}) {
    for (const bool by_sample_size : {false, true}) {
      const UploadWeights how{upload, by_sample_size};
      const State expected = averaged_whole("out_of_place_kept_step", how, uploads);
      const auto equal = [&](const State& state) {
        return compare_states(expected, state).bit_identical;
      };
      EXPECT_TRUE(equal(averaged_whole("in_place", how, uploads)));
      for (const std::string& framing : words_of("framing"))
        for (const std::size_t piece_bytes : {4099U, 65536U, 1048576U})
          EXPECT_TRUE(equal(folded(how, uploads, framing, piece_bytes))) << fmt::format(
              "differences {}, by sample size {}, {} in pieces of {}",
              upload == UploadKind::difference, by_sample_size, framing, piece_bytes);
    }
  }
}

}  // namespace
}  // namespace memduel
