#include "compression.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "optimizations.h"
#include "support/catalog_files.h"
#include "transport/compressed_codec.h"
#include "transport/test_loop_call.h"
#include "util/error.h"

namespace memduel {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::size_t kMaxMessage = std::size_t{1} << 20;

nlohmann::json switches(const std::string& preset, const std::string& compression) {
  nlohmann::json values = preset_values(preset);
  values["compression"] = compression;
  return values;
}

State sample_state() {
  torch::manual_seed(5);
  return {{"conv.weight", torch::randn({64, 3, 3, 3})},
          {"fc.weight", torch::randn({300, 40})},
          {"fc.bias", torch::randn({2000})},
          {"bn.num_batches_tracked", torch::tensor(std::int64_t{7}, torch::kLong)},
          {"empty.weight", torch::empty({0})},
          {"ids.weight", torch::arange(5000, torch::kInt)}};
}

struct Carried {
  State state;
  std::size_t bytes = 0;  ///< on the wire
};

/// From a client to the server.
Carried upload(const State& state, const Optimizations& chosen) {
  LoopCall call(1000);
  CallFrame sending(Side::client);
  Outgoing outgoing = chosen.upload_serializer->prepare(state, {"client-1", Status::run, "{}"},
                                                        *chosen.framing, sending);
  std::size_t bytes = outgoing.first.size();
  for (const Segment& segment : outgoing.body) bytes += segment.bytes.size();
  send(call, std::move(outgoing), chosen.piece_bytes);
  CallFrame receiving(Side::server);
  return {chosen.upload_receiver->receive(call, receiving, nullptr).state, bytes};
}

class EveryCompressiblePreset : public ::testing::TestWithParam<const char*> {
 protected:
  [[nodiscard]] Carried carry(const State& state, const std::string& compression) const {
    return upload(state, make_optimizations(switches(GetParam(), compression), kMaxMessage));
  }
};

TEST_P(EveryCompressiblePreset, BloscCarriesEveryBit) {
  const State sent = sample_state();
  sent[2].tensor[3] = std::numeric_limits<float>::quiet_NaN();
  const Carried got = carry(sent, "blosc");
  ASSERT_EQ(got.state.size(), sent.size());
  for (std::size_t i = 0; i < sent.size(); ++i) {
    EXPECT_EQ(got.state[i].name, sent[i].name);
    EXPECT_EQ(got.state[i].tensor.sizes(), sent[i].tensor.sizes());
    EXPECT_EQ(got.state[i].tensor.scalar_type(), sent[i].tensor.scalar_type());
    EXPECT_EQ(bytes_of(got.state[i].tensor), bytes_of(sent[i].tensor)) << sent[i].name;
  }
}

TEST_P(EveryCompressiblePreset, ZfpKeepsItsBoundOnLargeWeightsAndEveryBitElsewhere) {
  const State sent = sample_state();
  const Carried got = carry(sent, "zfp");
  ASSERT_EQ(got.state.size(), sent.size());
  for (std::size_t i = 0; i < sent.size(); ++i) {
    const at::Tensor& before = sent[i].tensor;
    const at::Tensor& after = got.state[i].tensor;
    if (sent[i].name == "conv.weight" || sent[i].name == "fc.weight") {
      const double bound = 1e-3 * (before.max() - before.min()).to(torch::kDouble).item<double>();
      const double difference =
          (after.to(torch::kDouble) - before.to(torch::kDouble)).abs().max().item<double>();
      EXPECT_LE(difference, bound * (1 + 1e-6)) << "the range is that of floats";
      EXPECT_GT(difference, 0);
    } else {
      EXPECT_EQ(bytes_of(after), bytes_of(before)) << sent[i].name;
    }
  }
}

TEST_P(EveryCompressiblePreset, SmoothWeightsTakeLessThanAThirdOfTheWire) {
  const State smooth = {{"fc.weight", torch::sin(torch::arange(200'000) * 0.006F)}};
  const std::size_t plain = carry(smooth, "none").bytes;
  EXPECT_GT(plain, 800'000U);
  EXPECT_LT(carry(smooth, "zfp").bytes, plain / 3);
  EXPECT_LT(carry(smooth, "blosc").bytes, plain);
}

// expect_finite of the server must see what the client had.
TEST_P(EveryCompressiblePreset, NotANumberArrivesAsSuch) {
  State sent = sample_state();
  sent[0].tensor.view(-1)[17] = std::numeric_limits<float>::quiet_NaN();
  const Carried got = carry(sent, "zfp");
  EXPECT_EQ(bytes_of(got.state[0].tensor), bytes_of(sent[0].tensor));
}

TEST_P(EveryCompressiblePreset, AnswersAreNotCompressed) {
  const auto chosen = make_optimizations(switches(GetParam(), "zfp"), kMaxMessage);
  const State sent = sample_state();
  LoopCall call(1000);
  CallFrame sending(Side::server);
  send(call, chosen.responder->prepare(sent, 1)->outgoing({}, sending), chosen.piece_bytes);
  CallFrame receiving(Side::client);
  const State got = chosen.receiver->receive(call, receiving, nullptr).state;
  for (std::size_t i = 0; i < sent.size(); ++i)
    EXPECT_EQ(bytes_of(got[i].tensor), bytes_of(sent[i].tensor)) << sent[i].name;
}

// One FedAvg round on three tensors, by hand as in golden_round_test.cpp: a weight of 2,000
// elements i/1000 that the clients move by +1 and +3 becomes i/1000 + 2; each upload may be off by
// 1e-3 of its range of 1.999, and so may their mean. The integer and the small buffer are exact.
TEST_P(EveryCompressiblePreset, OneRoundIsTheHandComputedOneWithinTheBound) {
  const auto state_of = [](double shift, std::int64_t count, float mean) {
    return State{{"w.weight", torch::arange(2000, torch::kFloat) / 1000 + shift},
                 {"n", torch::tensor(count, torch::kLong)},
                 {"mean", torch::tensor(std::vector<float>{mean})}};
  };
  for (const std::string compression : {"none", "blosc", "zfp"}) {
    SCOPED_TRACE(compression);
    const auto chosen = make_optimizations(switches(GetParam(), compression), kMaxMessage);
    const Model model{nullptr, state_of(0, 10, 0.5F), {"w.weight"}};
    const State one = upload(state_of(1, 11, 1), chosen).state;
    const State two = upload(state_of(3, 14, 2), chosen).state;
    const State global = make_aggregator(chosen.aggregate, model, UploadKind::weights)
                             ->aggregate({{1, 0.5, &one}, {2, 0.5, &two}});
    const at::Tensor expected = torch::arange(2000, torch::kDouble) / 1000 + 2;
    const double off =
        (find_tensor(global, "w.weight").to(torch::kDouble) - expected).abs().max().item<double>();
    const double rounding = 2e-6;  // four at the spacing of floats from 4 on
    EXPECT_LE(off, rounding + (compression == "zfp" ? 1e-3 * 1.999 : 0));
    EXPECT_EQ(find_tensor(global, "n").item<std::int64_t>(), 12);
    EXPECT_EQ(find_tensor(global, "mean").item<float>(), 1.5F);
  }
}

INSTANTIATE_TEST_SUITE_P(All, EveryCompressiblePreset,
                         ::testing::Values("appfl-original", "appfl-as-implemented",
                                           "appfl-optimized"),
                         [](const auto& one) {
                           std::string name = one.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

std::string refusal(const nlohmann::json& values) {
  try {
    make_optimizations(values, kMaxMessage);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.message();
  }
  return "accepted";
}

TEST(ExpectCompressible, NamesBothSwitches) {
  const std::pair<const char*, nlohmann::json> cases[] = {{"serialize", "streamed_from_tensors"},
                                                          {"receive", "into_tensors"},
                                                          {"aggregate", "streaming_fold"},
                                                          {"model_chunking", 65536}};
  for (const auto& [name, value] : cases) {
    nlohmann::json values = switches("appfl-optimized", "blosc");
    values[name] = value;
    EXPECT_THAT(refusal(values),
                AllOf(HasSubstr(std::string("switches.") + name),
                      HasSubstr("compression \"blosc\""), HasSubstr(value.dump())));
    values["compression"] = "none";
    EXPECT_EQ(refusal(values), "accepted") << name;
  }
}

TEST(Decompressor, PlainStateIsRefusedByName) {
  const auto chosen = make_optimizations(switches("appfl-optimized", "zfp"), kMaxMessage);
  LoopCall call(1000);
  CallFrame frame(Side::server);
  send(call,
       chosen.serializer->prepare(sample_state(), {"client-1", Status::run, ""}, *chosen.framing,
                                  frame),
       chosen.piece_bytes);
  try {
    static_cast<void>(chosen.upload_receiver->receive(call, frame, nullptr));
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_THAT(error.message(), AllOf(HasSubstr("client-1"), HasSubstr("malformed compressed")));
  }
}

}  // namespace
}  // namespace memduel
