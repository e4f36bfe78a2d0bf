// One FedAvg round by hand, over a model of three tensors, through every step between the clients'
// states and the clients' new models.
//
//             global   client-1   client-2   new global
//   w (param) 1, 2     2, 4       4, 8       equal: 1 + ½·1 + ½·3 = 3, 2 + ½·2 + ½·6 = 6
//   n (int64) 10       11         14         (11 + 14) / 2 = 12.5, cast to 12
//   mean      0.5      1          2          1.5
// Weighted ¼ and ¾: w = 1 + ¼·1 + ¾·3 = 3.5, 2 + ¼·2 + ¾·6 = 7; means stay plain.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "optimizations/aggregation.h"
#include "optimizations/optimizations.h"
#include "optimizations/staging.h"
#include "support/catalog_files.h"
#include "transport/test_loop_call.h"

namespace memduel {
namespace {

using ::testing::ElementsAre;

State state_of(std::vector<float> w, std::int64_t n, float mean) {
  return {{"w", torch::tensor(w)},
          {"n", torch::tensor(n, torch::kLong)},
          {"mean", torch::tensor(std::vector<float>{mean})}};
}

Model three_tensors() {
  return {nullptr, state_of({1, 2}, 10, 0.5F), {"w"}};
}
State client_1() {
  return state_of({2, 4}, 11, 1);
}
State client_2() {
  return state_of({4, 8}, 14, 2);
}

std::vector<float> floats(const State& state, const std::string& name) {
  const at::Tensor& tensor = find_tensor(state, name);
  const auto* const data = tensor.data_ptr<float>();
  return {data, data + tensor.numel()};
}
std::int64_t count_of(const State& state) {
  return find_tensor(state, "n").item<std::int64_t>();
}

std::vector<Contribution> contributions(const State& one, const State& two, double weight_one) {
  return {{1, weight_one, &one}, {2, 1 - weight_one, &two}};
}

class EveryAggregate : public ::testing::TestWithParam<std::string> {};

TEST_P(EveryAggregate, EqualWeights) {
  const Model model = three_tensors();
  const State one = client_1();
  const State two = client_2();
  const State global = make_aggregator(GetParam(), model, UploadKind::weights)
                           ->aggregate(contributions(one, two, 0.5));
  EXPECT_THAT(floats(global, "w"), ElementsAre(3, 6));
  EXPECT_EQ(count_of(global), 12);
  EXPECT_THAT(floats(global, "mean"), ElementsAre(1.5F));
  EXPECT_THAT(floats(model.state, "w"), ElementsAre(3, 6)) << "the server's model follows";
  EXPECT_EQ(count_of(model.state), 12);
}

TEST_P(EveryAggregate, SampleSizeWeightsStepParametersAndLeaveMeansPlain) {
  const Model model = three_tensors();
  const State one = client_1();
  const State two = client_2();
  const State global = make_aggregator(GetParam(), model, UploadKind::weights)
                           ->aggregate(contributions(one, two, 0.25));
  EXPECT_THAT(floats(global, "w"), ElementsAre(3.5F, 7));
  EXPECT_EQ(count_of(global), 12);
  EXPECT_THAT(floats(global, "mean"), ElementsAre(1.5F));
}

TEST_P(EveryAggregate, DifferencesGiveTheSameAsWeights) {
  const Model model = three_tensors();
  const State one = state_of({-1, -2}, 11, 1);
  const State two = state_of({-3, -6}, 14, 2);
  const State global = make_aggregator(GetParam(), model, UploadKind::difference)
                           ->aggregate(contributions(one, two, 0.5));
  EXPECT_THAT(floats(global, "w"), ElementsAre(3, 6));
  EXPECT_EQ(count_of(global), 12);
}

// From 3, 6 with the same clients: 3 + ½·(2-3) + ½·(4-3) = 3, 6 + ½·(4-6) + ½·(8-6) = 6.
TEST_P(EveryAggregate, SecondRoundStartsFromTheFirst) {
  const Model model = three_tensors();
  const State one = client_1();
  const State two = state_of({8, 8}, 14, 2);
  const auto aggregator = make_aggregator(GetParam(), model, UploadKind::weights);
  // 1 + ½·1 + ½·7 = 5
  EXPECT_THAT(floats(aggregator->aggregate(contributions(one, two, 0.5)), "w"), ElementsAre(5, 6));
  // 5 + ½·(2-5) + ½·(8-5) = 5
  EXPECT_THAT(floats(aggregator->aggregate(contributions(one, two, 0.5)), "w"), ElementsAre(5, 6));
}

TEST_P(EveryAggregate, WhatIsSentDoesNotAliasTheModel) {
  const Model model = three_tensors();
  const State one = client_1();
  const State two = client_2();
  const State global = make_aggregator(GetParam(), model, UploadKind::weights)
                           ->aggregate(contributions(one, two, 0.5));
  for (std::size_t i = 0; i < global.size(); ++i)
    EXPECT_FALSE(global[i].tensor.is_alias_of(model.state[i].tensor)) << global[i].name;
}

INSTANTIATE_TEST_SUITE_P(All, EveryAggregate, ::testing::ValuesIn(aggregate_values()),
                         [](const auto& one) { return one.param; });

std::vector<std::string> preset_names() {
  std::vector<std::string> names;
  const nlohmann::json table = read_config("switches.json");
  for (const auto& preset : table.at("presets")) {
    const std::string name = preset.at("name");
    if (name.starts_with("appfl-")) names.push_back(name);
  }
  return names;
}

class EveryPreset : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    chosen_ = make_optimizations(preset_values(GetParam()), std::size_t{1} << 20);
  }

  /// Serializes, frames, sends and receives.
  State carry(const State& state, Side receiver) {
    LoopCall call(1000);
    CallFrame sending(receiver == Side::server ? Side::client : Side::server);
    send(call,
         chosen_.serializer->prepare(state, {"client-1", Status::run, ""}, *chosen_.framing,
                                     sending),
         chosen_.piece_bytes);
    CallFrame receiving(receiver);
    return chosen_.receiver->receive(call, receiving, nullptr).state;
  }

  /// As the server averages: from whole states, or block by block as they come.
  State average(const Model& model) {
    if (chosen_.aggregate == kStreamingFold) return folded(model);
    const State one = carry(client_1(), Side::server);
    const State two = carry(client_2(), Side::server);
    return make_aggregator(chosen_.aggregate, model, UploadKind::weights)
        ->aggregate(contributions(one, two, 0.5));
  }

  Optimizations chosen_;

 private:
  State folded(const Model& model) {
    LoopCall calls[2] = {LoopCall(1000), LoopCall(1000)};
    const State states[2] = {client_1(), client_2()};
    std::unique_ptr<ModelStream> streams[2];
    std::vector<FoldInput> inputs;
    CallFrame sending(Side::client);
    for (int i = 0; i < 2; ++i) {
      send(calls[i],
           chosen_.serializer->prepare(states[i], {"client", Status::run, ""}, *chosen_.framing,
                                       sending),
           chosen_.piece_bytes);
      streams[i] = chosen_.framing->open(calls[i]);
      streams[i]->read_table();
      inputs.push_back({i + 1, 0.5, streams[i].get()});
    }
    const auto staging =
        make_staging(chosen_.staging, state_bytes(model.state), ::testing::TempDir());
    streaming_fold(model, model.state, inputs, UploadKind::weights, *staging);
    return make_upload_state("reference")->take(model.state);
  }
};

TEST_P(EveryPreset, OneRoundIsTheHandComputedOne) {
  const Model model = three_tensors();
  const auto response = chosen_.responder->prepare(average(model), 2);
  LoopCall call(1000);
  CallFrame sending(Side::server);
  send(call, response->outgoing({"", Status::done, ""}, sending), chosen_.piece_bytes);
  CallFrame receiving(Side::client);
  const IncomingModel received = chosen_.receiver->receive(call, receiving, nullptr);
  EXPECT_EQ(received.header.status, Status::done);
  EXPECT_THAT(floats(received.state, "w"), ElementsAre(3, 6));
  EXPECT_EQ(count_of(received.state), 12);
  EXPECT_THAT(floats(received.state, "mean"), ElementsAre(1.5F));
}

INSTANTIATE_TEST_SUITE_P(All, EveryPreset, ::testing::ValuesIn(preset_names()),
                         [](const auto& one) {
                           std::string name = one.param;
                           std::ranges::replace_if(
                               name, [](char c) { return c == '-' || c == '.'; }, '_');
                           return name;
                         });

}  // namespace
}  // namespace memduel
