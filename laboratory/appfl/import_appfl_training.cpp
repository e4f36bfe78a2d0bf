#include "laboratory/appfl/import_appfl_training.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "laboratory/appfl/import_appfl_data.h"
#include "laboratory/appfl/import_appfl_model.h"

namespace memduel {
namespace {

constexpr const char* kLoss = "cross-entropy is used";

using nlohmann::ordered_json;

/// A flag that has to be off, with settings that matter only where it is on.
void expect_off(AppflSources& sources, const std::string& flag,
                const std::vector<std::string>& details, const std::string& why) {
  const auto value = sources.shared(flag);
  if (value && to_flag(*value)) {
    sources.lose(*value, why);
    return;
  }
  for (const std::string& detail : details) {
    sources.ignore("client_configs." + detail);
    sources.ignore(detail);
  }
}

std::int64_t import_batch(AppflSources& sources, const std::string& key) {
  constexpr std::int64_t kAppflDefault = 32;
  const auto value = sources.shared("train_configs." + key);
  return value ? to_whole(*value, 1, 1'000'000) : kAppflDefault;
}

std::int64_t import_local_steps(AppflSources& sources, std::int64_t samples_per_client,
                                std::int64_t batch) {
  constexpr std::int64_t kMost = 1'000'000;
  const auto mode = sources.shared("train_configs.mode");
  if (mode && to_text(*mode) == "epoch") {
    const auto epochs = sources.shared("train_configs.num_local_epochs");
    if (!epochs) sources.missing("client_configs.train_configs.num_local_epochs");
    const std::int64_t each = std::max<std::int64_t>((samples_per_client + batch - 1) / batch, 1);
    const std::int64_t count = to_whole(*epochs, 1, kMost);
    if (count > kMost / each)
      throw Error(
          ExitCode::usage,
          fmt::format("found {} epochs of {} steps, expected at most {} steps", count, each, kMost),
          epochs->place());
    const std::int64_t steps = count * each;
    sources.lose(*epochs, fmt::format("replayed as {} steps, of an equal share of {} samples",
                                      steps, samples_per_client));
    return steps;
  }
  if (mode && to_text(*mode) != "step") refuse_value(*mode, {"step", "epoch"});
  const auto steps = sources.shared("train_configs.num_local_steps");
  if (!steps) sources.missing("client_configs.train_configs.num_local_steps");
  return to_whole(*steps, 1, kMost);
}

ordered_json import_optimizer(AppflSources& sources) {
  ordered_json optimizer = {{"name", "adam"}};
  if (const auto name = sources.shared("train_configs.optim")) {
    if (to_text(*name) == "SGD") optimizer["name"] = "sgd";
    sources.expect(name, {"Adam", "SGD"}, "replayed as Adam; adam and sgd are known");
  }
  // torch's defaults where APPFL's files give none.
  optimizer["learning_rate"] = optimizer.at("name") == "sgd" ? 0.01 : 0.001;
  if (const auto rate = sources.shared("train_configs.optim_args.lr"))
    optimizer["learning_rate"] = to_positive(*rate);
  return optimizer;
}

bool flag_of(AppflSources& sources, const std::string& key) {
  const auto value = sources.shared("train_configs." + key);
  return value && to_flag(*value);
}

/// What memduel does in one way only.
void expect_one_way_of_training(AppflSources& sources) {
  sources.expect(sources.shared("train_configs.loss_fn_name"), {"CELoss"}, kLoss);
  sources.expect(sources.shared("train_configs.loss_fn"), {"CrossEntropyLoss"}, kLoss);
  sources.expect(sources.shared("train_configs.metric_name"), {"accuracy"}, "accuracy is used");
  for (const char* const key : {"train_configs.loss_fn_path", "train_configs.metric_path"}) {
    sources.ignore(std::string("client_configs.") + key);
    sources.ignore(key);
  }
  expect_off(sources, "train_configs.use_dp", {"train_configs.epsilon"},
             "no differential privacy here");
  expect_off(sources, "train_configs.clip_grad",
             {"train_configs.clip_value", "train_configs.clip_norm"}, "gradients are not clipped");
  if (const auto shuffle = sources.shared("train_configs.train_data_shuffle"))
    if (!to_flag(*shuffle)) sources.lose(*shuffle, "training samples are always shuffled");
  if (const auto shuffle = sources.shared("train_configs.val_data_shuffle"))
    if (to_flag(*shuffle)) sources.lose(*shuffle, "validation samples are never shuffled");
}

}  // namespace

void import_appfl_training(AppflSources& sources, ordered_json& workload) {
  const std::string model = import_appfl_network(sources);
  const std::int64_t clients = workload.at("clients");
  workload["model"] = model;
  ImportedData data = import_appfl_data(sources, model, clients);
  workload["dataset"] = std::move(data.dataset);
  const std::int64_t batch = import_batch(sources, "train_batch_size");
  workload["local_steps"] = import_local_steps(sources, data.train_samples / clients, batch);
  workload["batch_size"] = batch;
  workload["validation_batch_size"] = import_batch(sources, "val_batch_size");
  workload["pre_validation"] = flag_of(sources, "do_pre_validation");
  workload["client_validation"] = flag_of(sources, "do_validation");
  const auto at_server = sources.server("server_configs.do_validation");
  workload["server_validation"] = at_server && to_flag(*at_server);
  workload["send"] = flag_of(sources, "send_gradient") ? "gradient" : "weights";
  workload["optimizer"] = import_optimizer(sources);
  expect_one_way_of_training(sources);
}

}  // namespace memduel
