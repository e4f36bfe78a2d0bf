#include "workloads/models/model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "base/text.h"
#include "workloads/models/cnn.h"
#include "workloads/models/criss_cross.h"
#include "workloads/models/csfl_cnn.h"
#include "workloads/models/resnet18.h"

namespace memduel {
namespace {

std::shared_ptr<ImageClassifier> make_criss_cross(const CrissCrossShape& shape) {
  return std::make_shared<CrissCrossTransformer>(shape);
}

struct KnownModel {
  std::string_view name;
  std::shared_ptr<ImageClassifier> (*make)();
};

constexpr KnownModel kModels[] = {
    {"mnist-cnn", [] { return make_cnn(1, 28); }},
    {"cifar-cnn", [] { return make_cnn(3, 32); }},
    {"resnet18", make_resnet18},
    {"csfl-cnn", make_csfl_cnn},
    {"csfl-light-cnn", make_csfl_light_cnn},
    {"cbramod", [] { return make_criss_cross(CrissCrossShape{}); }},
    {"cbramod-small", [] { return make_criss_cross(kSmallCrissCross); }},
};

void append_entries(const torch::nn::Module& module, const std::string& prefix, Model& model) {
  for (const auto& entry : module.named_parameters(/*recurse=*/false)) {
    model.state.push_back({prefix + entry.key(), entry.value()});
    model.parameters.insert(prefix + entry.key());
  }
  for (const auto& entry : module.named_buffers(/*recurse=*/false))
    model.state.push_back({prefix + entry.key(), entry.value()});
  for (const auto& child : module.named_children())
    append_entries(*child.value(), prefix + child.key() + ".", model);
}

}  // namespace

State state_of(const torch::nn::Module& network) {
  Model entries;
  append_entries(network, "", entries);
  return entries.state;
}

Model wrap_network(std::shared_ptr<ImageClassifier> network) {
  Model model{std::move(network), {}, {}};
  append_entries(*model.network, "", model);
  return model;
}

Model make_model(const std::string& name, std::uint64_t seed) {
  for (const KnownModel& known : kModels) {
    if (known.name != name) continue;
    torch::manual_seed(seed);
    return wrap_network(known.make());
  }
  throw Error(ExitCode::usage, fmt::format("unknown model \"{}\"", name), "workload.model",
              nearest_advice(name, model_names(),
                             fmt::format("known are {}", fmt::join(model_names(), ", "))));
}

Model move_to(Model model, const at::Device& device) {
  if (device.is_cpu()) return model;
  if (model.network != nullptr) {
    model.network->to(device);
    return wrap_network(std::move(model.network));
  }
  for (NamedTensor& entry : model.state) entry.tensor = entry.tensor.to(device);
  return model;
}

at::Device device_of(const Model& model) {
  return model.state.front().tensor.device();
}

std::int64_t parameter_count(const Model& model) {
  std::int64_t count = 0;
  for (const NamedTensor& entry : model.state)
    if (model.parameters.contains(entry.name)) count += entry.tensor.numel();
  return count;
}

std::vector<std::string> model_names() {
  std::vector<std::string> names;
  for (const KnownModel& known : kModels) names.emplace_back(known.name);
  return names;
}

}  // namespace memduel
