#include "laboratory/switch_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "experiment/config/test_support.h"
#include "laboratory/catalogue.h"

namespace memduel {
namespace {

using nlohmann::json;

std::string refusal_of_switches(const json& switches, const json& workload) {
  try {
    refuse_clashing_switches(switches, workload, json::object(), "c.json, $.arms[1]");
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
            "found mixed_precision=fp16 with workload.device=cpu, expected workload.device=cuda");
}

// A piece travels in a message that adds 16 bytes to it: 1048576 - 16 is the most.
TEST(SwitchRules, APieceIsNoLargerThanItsMessageTakes) {
  const json workload = {{"transport", {{"max_message_bytes", 1048576}}}};
  EXPECT_EQ(refusal_of_switches({{"piece_bytes", 1048560}}, workload), "accepted");
  EXPECT_EQ(refusal_of_switches({{"piece_bytes", 1048561}}, workload),
            "found piece_bytes=1048561 with workload.transport.max_message_bytes=1048576, expected "
            "piece_bytes of at most 1048560");
}

TEST(SwitchRules, TensorsGoToDiskOneUploadAtATime) {
  json switches = {{"tensor_offload", "disk"}, {"aggregate", "in_place"}, {"compression", "none"}};
  EXPECT_EQ(refusal_of_switches(switches, {}),
            "found tensor_offload=disk with aggregate=in_place, expected aggregate=collect_all or "
            "in_time");
  switches["aggregate"] = "in_time";
  EXPECT_EQ(refusal_of_switches(switches, {}), "accepted");
}

TEST(SwitchRules, ASwarmHasNoModelOfTheRoundBefore) {
  const json swarm = {{"topology", "swarm"}, {"send", "gradient"}, {"on_lost_client", "fail"}};
  EXPECT_EQ(refusal_of_switches({{"aggregate", "in_place"}}, swarm),
            "found workload.topology=swarm with aggregate=in_place, expected aggregate=collect_all "
            "or in_time");
  EXPECT_EQ(refusal_of_switches({{"aggregate", "in_time"}}, swarm),
            "found workload.topology=swarm with workload.send=gradient, expected "
            "workload.send=weights");
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
  const Catalog& catalog = laboratory_catalog();
  int rules = 0;
  for (const Preset& preset : catalog.presets)
    for (const std::string& kind : preset.workload_kinds) {
      const json switches =
          resolve_optimizations(catalog, kind, preset.name, json::object(), preset.name);
      const json idle = idle_switches(switches, {{"kind", kind}});
      for (const auto& [name, reason] : idle.items()) {
        const std::string text = reason.get<std::string>().substr(std::string("needs ").size());
        const std::string setting = text.substr(0, text.find('='));
        std::string values = text.substr(setting.size() + 1) + " or ";
        if (setting.starts_with("workload.")) continue;
        for (std::size_t end = 0; (end = values.find(" or ")) != std::string::npos;
             values.erase(0, end + 4), ++rules)
          EXPECT_NO_THROW(resolve_optimizations(catalog, kind, std::nullopt,
                                                {{setting, values.substr(0, end)}}, name));
      }
    }
  EXPECT_GT(rules, 40);
}

}  // namespace
}  // namespace memduel
