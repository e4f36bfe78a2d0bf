#include "laboratory/appfl/import_appfl_model.h"

#include <fmt/format.h>

#include "base/error.h"

namespace memduel {
namespace {

std::int64_t model_number(AppflSources& sources, const AppflValue& model, const std::string& name) {
  const auto value = sources.shared("model_configs.model_kwargs." + name);
  if (!value)
    throw Error(ExitCode::usage, fmt::format("model CNN needs model_kwargs.{}", name),
                model.place());
  return to_whole(*value, 1, 1'000'000);
}

std::string import_cnn(AppflSources& sources, const AppflValue& model) {
  const std::int64_t channels = model_number(sources, model, "num_channel");
  const std::int64_t pixels = model_number(sources, model, "num_pixel");
  if (channels == 1 && pixels == 28) return "mnist-cnn";
  if (channels == 3 && pixels == 32) return "cifar-cnn";
  throw Error(ExitCode::usage,
              fmt::format("found a CNN for {} channels of {} pixels, expected 1 of 28 (MNIST) or 3 "
                          "of 32 (CIFAR-10)",
                          channels, pixels),
              model.place());
}

void expect_ten_classes(AppflSources& sources) {
  const auto classes = sources.shared("model_configs.model_kwargs.num_classes");
  if (classes && to_whole(*classes, 1, 1'000'000) != 10)
    throw Error(ExitCode::usage, fmt::format("found {} classes, expected 10", *classes->text),
                classes->place());
}

AppflValue model_name(AppflSources& sources) {
  auto model = sources.shared("model_configs.model_name");
  if (!model) sources.missing("client_configs.model_configs.model_name");
  sources.ignore("client_configs.model_configs.model_path");
  sources.ignore("model_configs.model_path");
  return *model;
}

}  // namespace

std::string import_appfl_network(AppflSources& sources) {
  const AppflValue model = model_name(sources);
  const bool is_cnn = to_text(model) == "CNN";
  if (!is_cnn && to_text(model) != "ResNet18")
    refuse_value(model, {"CNN", "ResNet18"}, "memduel replays these models of APPFL's examples");
  expect_ten_classes(sources);
  return is_cnn ? import_cnn(sources, model) : "resnet18";
}

nlohmann::ordered_json import_appfl_state(AppflSources& sources) {
  constexpr const char* kLlama = "meta-llama/Llama-3.1-8B";
  constexpr const char* kOurs = "llama-3.1-8b";
  constexpr std::int64_t kScaledTo = std::int64_t{1} << 30;
  const AppflValue model = model_name(sources);
  if (to_text(model) == "load_hf_llm") {
    const auto which = sources.shared("model_configs.model_kwargs.model_name");
    if (!which) sources.missing("client_configs.model_configs.model_kwargs.model_name");
    if (to_text(*which) != kLlama)
      refuse_value(*which, {kLlama}, "memduel carries the shapes of this language model");
    sources.lose(*which, "scaled to 1 GiB of 32-bit floats; workload.state_bytes sets it");
    return {{"model", kOurs}, {"state_bytes", kScaledTo}};
  }
  return {{"model", import_appfl_network(sources)}};
}

}  // namespace memduel
