#include "optimizations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/catalog_files.h"
#include "transport/test_loop_call.h"
#include "util/error.h"

namespace memduel {
namespace {

using ::testing::HasSubstr;

constexpr std::size_t kMessageLimit = 10485760;

nlohmann::json original() {
  return preset_values("appfl-original");
}

std::string refusal_of_switches(const nlohmann::json& values) {
  try {
    make_optimizations(values, kMessageLimit);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.message();
  }
  return "accepted";
}

TEST(Catalog, EveryListedValueIsImplemented) {
  for (const auto& one : switches_for("federated")) {
    for (const auto& value : one.at("values")) {
      nlohmann::json values = original();
      values[one.at("name").get<std::string>()] = value.at("value");
      if (one.at("name") == "tensor_offload") values["aggregate"] = "in_time";
      EXPECT_NO_THROW(make_optimizations(values, kMessageLimit)) << one.at("name") << value;
    }
  }
}

TEST(MakeOptimizations, UnknownSwitchNamesTheNearest) {
  nlohmann::json values = original();
  values["agregate"] = "in_place";
  EXPECT_THAT(refusal_of_switches(values), HasSubstr("did you mean \"aggregate\""));
}

TEST(MakeOptimizations, UnknownValueNamesTheSwitchAndItsValues) {
  nlohmann::json values = original();
  values["receive"] = "telepathy";
  EXPECT_THAT(refusal_of_switches(values),
              ::testing::AllOf(
                  HasSubstr("switches.receive"), HasSubstr("found \"telepathy\""),
                  HasSubstr("concatenate, bytearray, chunk_list, inflated_chunks, new_tensors, "
                            "into_tensors")));
}

TEST(MakeOptimizations, MissingSwitchIsRefused) {
  nlohmann::json values = original();
  values.erase("framing");
  EXPECT_THAT(refusal_of_switches(values), HasSubstr("switches.framing: missing"));
}

TEST(GcRounds, AreWholeNumbersFromZero) {
  nlohmann::json values = original();
  for (const char* name : {"server_gc_rounds", "client_gc_rounds"}) {
    for (const nlohmann::json& value :
         {nlohmann::json(-1), nlohmann::json(true), nlohmann::json("5"), nlohmann::json(0.5)}) {
      values = original();
      values[name] = value;
      EXPECT_THAT(
          refusal_of_switches(values),
          ::testing::AllOf(HasSubstr(std::string("switches.") + name),
                           HasSubstr("found " + value.dump()), HasSubstr("a whole number from 0")));
    }
  }
  values = original();
  values["server_gc_rounds"] = 5;
  EXPECT_EQ(make_optimizations(values, kMessageLimit).server_gc_rounds, 5);
}

TEST(TensorOffload, NeedsAnAverageThatReadsOneUploadAtATime) {
  nlohmann::json values = original();
  values["tensor_offload"] = "disk";
  EXPECT_THAT(refusal_of_switches(values), HasSubstr("switches.tensor_offload"));
  values["aggregate"] = "in_time";
  EXPECT_EQ(refusal_of_switches(values), "accepted");
  values["compression"] = "blosc";
  EXPECT_THAT(refusal_of_switches(values), HasSubstr("switches.tensor_offload"));
}

TEST(PieceBytes, IsNineTenthsOfTheMessageOrANumberThatFits) {
  nlohmann::json values = original();
  EXPECT_EQ(make_optimizations(values, kMessageLimit).piece_bytes, 9437184U);
  values["piece_bytes"] = 65536;
  EXPECT_EQ(make_optimizations(values, kMessageLimit).piece_bytes, 65536U);
  values["piece_bytes"] = 3;
  EXPECT_THAT(refusal_of_switches(values), HasSubstr("piece_bytes"));
  values["piece_bytes"] = kMessageLimit - 16;
  EXPECT_EQ(refusal_of_switches(values), "accepted");
  values["piece_bytes"] = kMessageLimit - 15;
  EXPECT_THAT(refusal_of_switches(values), HasSubstr("bounded by transport.max_message_bytes"));
}

State mixed_state() {
  return {{"a", torch::arange(1000, torch::kFloat).reshape({10, 100})},
          {"count", torch::tensor(std::int64_t{7}, torch::kLong)},
          {"empty", torch::empty({0})},
          {"b", torch::arange(33, torch::kFloat)}};
}

struct Path {
  std::string serialize;
  std::string framing;
  std::string receive;
  std::string deserialize;
};

std::vector<Path> every_path() {
  std::vector<Path> paths;
  for (const auto& serialize : words_of("serialize"))
    for (const auto& framing : words_of("framing"))
      for (const auto& receive : words_of("receive"))
        for (const auto& deserialize : words_of("deserialize"))
          paths.push_back({serialize, framing, receive, deserialize});
  return paths;
}

// Every way to send meets every way to receive: all read the same bytes.
TEST(ModelPath, EveryCombinationCarriesTheSameBits) {
  const State sent = mixed_state();
  for (const Path& path : every_path()) {
    for (const Side side : {Side::client, Side::server}) {
      SCOPED_TRACE(path.serialize + " " + path.framing + " " + path.receive + " " +
                   path.deserialize);
      const auto framing = make_framing(path.framing);
      const auto deserializer = make_deserializer(path.deserialize);
      LoopCall call(100);
      CallFrame frame(side);
      send(call,
           make_serializer(path.serialize)
               ->prepare(sent, {"client-1", Status::run, "{}"}, *framing, frame),
           1024);
      const IncomingModel got =
          make_receiver(path.receive, {*framing, *deserializer})->receive(call, frame, nullptr);
      EXPECT_EQ(got.header.metadata, "{}");
      ASSERT_EQ(got.state.size(), sent.size());
      for (std::size_t i = 0; i < sent.size(); ++i) {
        EXPECT_EQ(got.state[i].name, sent[i].name);
        EXPECT_EQ(got.state[i].tensor.sizes(), sent[i].tensor.sizes());
        EXPECT_EQ(bytes_of(got.state[i].tensor), bytes_of(sent[i].tensor)) << sent[i].name;
      }
    }
  }
}

TEST(ModelPath, IntoTensorsFillsTheGivenTensors) {
  const State sent = mixed_state();
  State into = mixed_state();
  for (const auto& entry : into) entry.tensor.zero_();
  const auto framing = make_framing("metadata_then_raw");
  const auto deserializer = make_deserializer("cpu_first");
  LoopCall call(100);
  CallFrame frame(Side::client);
  send(call, make_serializer("streamed_from_tensors")->prepare(sent, {}, *framing, frame), 512);
  const auto received =
      make_receiver("into_tensors", {*framing, *deserializer})->receive(call, frame, &into);
  EXPECT_TRUE(received.state[0].tensor.is_alias_of(into[0].tensor));
  EXPECT_EQ(bytes_of(into[0].tensor), bytes_of(sent[0].tensor));
}

TEST(ModelPath, TruncationAnywhereIsRefused) {
  const State sent = mixed_state();
  for (const auto& framing_name : words_of("framing")) {
    for (const auto& receive : words_of("receive")) {
      SCOPED_TRACE(framing_name + " " + receive);
      const auto framing = make_framing(framing_name);
      const auto deserializer = make_deserializer("cpu_first");
      LoopCall call(100);
      CallFrame frame(Side::server);
      send(call, make_serializer("scoped_buffer")->prepare(sent, {}, *framing, frame), 1024);
      call.drop_last();
      EXPECT_THROW(
          static_cast<void>(
              make_receiver(receive, {*framing, *deserializer})->receive(call, frame, nullptr)),
          Error);
    }
  }
}

}  // namespace
}  // namespace memduel
