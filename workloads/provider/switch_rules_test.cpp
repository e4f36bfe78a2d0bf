#include "switch_rules.h"

#include <gtest/gtest.h>

#include "catalogue.h"
#include "support/small_experiment.h"

namespace memduel {
namespace {

using nlohmann::json;

/// The kinds of workload that have the switch.
std::vector<std::string> kinds_of(const std::string& name) {
  for (const Optimization& one : fl_catalog().optimizations)
    if (one.name == name) return one.applies_to;
  return {};
}

void expect_in_catalogue(const json& switches) {
  for (const auto& [name, value] : switches.items()) {
    ASSERT_FALSE(kinds_of(name).empty()) << name;
    EXPECT_NO_THROW(resolve_optimizations(fl_catalog(), kinds_of(name).front(), std::nullopt,
                                          {{name, value}}, name));
  }
}

std::string refusal_of_switches(const json& switches, const json& workload) {
  expect_in_catalogue(switches);
  try {
    refuse_clashing_switches(switches, workload, json::object(), "c.json, $.variants[1]");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.what();
  }
  return "accepted";
}

TEST(SwitchRules, AValueMayNeedWhatItsSwitchDoesNot) {
  EXPECT_EQ(refusal_of_switches({{"mixed_precision", "bf16"}}, {{"device", "cpu"}}), "accepted");
  EXPECT_EQ(refusal_of_switches({{"mixed_precision", "fp16"}}, {{"device", "cuda"}}), "accepted");
  EXPECT_EQ(refusal_of_switches({{"mixed_precision", "fp16"}}, {{"device", "cpu"}}),
            "expected workload.device=cuda, found mixed_precision=fp16 with workload.device=cpu");
}

// A piece travels in a message that adds 16 bytes to it: 1048576 - 16 is the most.
TEST(SwitchRules, APieceIsNoLargerThanItsMessageTakes) {
  const json workload = {{"transport", {{"max_message_bytes", 1048576}}}};
  EXPECT_EQ(refusal_of_switches({{"piece_bytes", 1048560}}, workload), "accepted");
  EXPECT_EQ(refusal_of_switches({{"piece_bytes", 1048561}}, workload),
            "expected piece_bytes of at most 1048560, found piece_bytes=1048561 with "
            "workload.transport.max_message_bytes=1048576");
}

TEST(SwitchRules, TensorsGoToDiskOneUploadAtATime) {
  json switches = {{"tensor_offload", "disk"}, {"aggregate", "in_place"}, {"compression", "none"}};
  EXPECT_EQ(refusal_of_switches(switches, {}),
            "expected aggregate=collect_all or in_time, found tensor_offload=disk with "
            "aggregate=in_place");
  switches["aggregate"] = "in_time";
  EXPECT_EQ(refusal_of_switches(switches, {}), "accepted");
}

TEST(SwitchRules, ASwarmHasNoModelOfTheRoundBefore) {
  const json swarm = {{"topology", "swarm"}, {"send", "gradient"}, {"on_lost_client", "fail"}};
  EXPECT_EQ(refusal_of_switches({{"aggregate", "in_place"}}, swarm),
            "expected aggregate=collect_all or in_time, found workload.topology=swarm with "
            "aggregate=in_place");
  EXPECT_EQ(
      refusal_of_switches({{"aggregate", "in_time"}}, swarm),
      "expected workload.send=weights, found workload.topology=swarm with workload.send=gradient");
}

TEST(SwitchRules, ASettingOfTheWorkloadIsRefusedAtItsOwnPlace) {
  const json swarm = {{"topology", "swarm"}, {"send", "gradient"}, {"on_lost_client", "fail"}};
  const json switches = {{"aggregate", "in_time"}};
  try {
    refuse_clashing_switches(switches, swarm, switches, "c.json, $.variants[0]");
    ADD_FAILURE() << "was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.where(), "c.json, $.workload.topology");
  }
}

TEST(SwitchRules, ASwitchIsIdleWithTheFirstThingThatItLacks) {
  const json workload = {{"kind", "federated"}, {"send", "weights"}};
  EXPECT_EQ(idle_switches({{"staging", "second_copy"},
                           {"aggregate", "in_place"},
                           {"previous_state", "kept"},
                           {"pseudo_gradient", "in_place"},
                           {"predictions", "kept"}},
                          workload),
            json({{"staging", "needs aggregate=streaming_fold"},
                  {"previous_state", "needs pseudo_gradient=out_of_place_kept"},
                  {"pseudo_gradient", "needs workload.send=gradient"}}));
}

// A rule that names no switch or value of the catalogue would hold for ever.
TEST(SwitchRules, NameSwitchesAndValuesOfTheCatalogue) {
  for (const SwitchNeed& need : needs_to_matter()) {
    const std::string setting = need.setting;
    EXPECT_FALSE(kinds_of(need.name).empty()) << need.name;
    if (setting.starts_with("workload.")) continue;
    for (const std::string& value : need.values) expect_in_catalogue({{setting, value}});
  }
}

TEST(SwitchRules, CompressedUploadsAreWholeMessages) {
  const json switches = {{"compression", "zfp"},
                         {"aggregate", "in_place"},
                         {"model_chunking", "off"},
                         {"receive", "bytearray"},
                         {"serialize", "scoped_buffer"}};
  EXPECT_EQ(refusal_of_switches(switches, {}), "accepted");
  const auto refusal_with = [&](const char* name, const char* value) {
    json other = switches;
    other[name] = value;
    return refusal_of_switches(other, {{"on_lost_client", "fail"}});
  };
  EXPECT_EQ(refusal_with("aggregate", "streaming_fold"),
            "expected aggregate=out_of_place_kept_step or in_place or collect_all or in_time, "
            "found compression=zfp with aggregate=streaming_fold");
  EXPECT_EQ(refusal_with("receive", "into_tensors"),
            "expected receive=concatenate or bytearray or chunk_list or inflated_chunks, found "
            "compression=zfp with receive=into_tensors");
  EXPECT_EQ(refusal_with("serialize", "streamed_from_tensors"),
            "expected serialize=buffered_copies or scoped_buffer, found compression=zfp with "
            "serialize=streamed_from_tensors");
}

}  // namespace
}  // namespace memduel
