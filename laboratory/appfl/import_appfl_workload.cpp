#include "laboratory/appfl/import_appfl_workload.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "laboratory/appfl/import_appfl_data.h"
#include "laboratory/appfl/import_appfl_model.h"
#include "laboratory/appfl/import_appfl_training.h"

namespace memduel {
namespace {

using nlohmann::ordered_json;

// The schema's bounds, so that a value out of them is refused where it stands in the YAML.
constexpr std::int64_t kMostRounds = 1'000'000;
constexpr std::int64_t kLeastMessage = 65'536;
constexpr std::int64_t kMostMessage = 2'147'483'647;

/// APPFL waits so long for one call; a round has one.
constexpr std::int64_t kSecondsPerRound = 3600;
constexpr std::int64_t kMostSeconds = 86'400;

// ---- clients, rounds -------------------------------------------------------------------------

std::int64_t import_clients(AppflSources& sources) {
  std::optional<AppflValue> stated;
  for (const char* const key :
       {"server_configs.num_clients", "server_configs.scheduler_kwargs.num_clients",
        "server_configs.aggregator_kwargs.num_clients"}) {
    const auto value = sources.server(key);
    if (value && stated && to_whole(*value, 1, kMostClients) != to_whole(*stated, 1, kMostClients))
      throw Error(ExitCode::usage,
                  fmt::format("found {} clients, and {} in line {}", *value->text, *stated->text,
                              stated->line),
                  value->place());
    if (!stated) stated = value;
  }
  const auto files = static_cast<std::int64_t>(sources.client_files());
  const std::int64_t clients = stated ? to_whole(*stated, 1, kMostClients) : files;
  if (files != 1 && files != clients)
    throw Error(ExitCode::usage,
                fmt::format("found {} clients, and {} client files", clients, files),
                stated ? stated->place() : sources.server_file(),
                "give one file for each client, or one that stands for all");
  return clients;
}

std::int64_t import_rounds(AppflSources& sources) {
  const auto rounds = sources.server("server_configs.num_global_epochs");
  if (!rounds) sources.missing("server_configs.num_global_epochs");
  return to_whole(*rounds, 1, kMostRounds);
}

// ---- server and transport --------------------------------------------------------------------

std::string import_weights(AppflSources& sources, bool training) {
  const auto mode = sources.server("server_configs.aggregator_kwargs.client_weights_mode");
  if (!mode) return "equal";
  if (to_text(*mode) != "equal" && to_text(*mode) != "sample_size")
    refuse_value(*mode, {"equal", "sample_size"});
  if (!training && to_text(*mode) == "sample_size") {
    sources.lose(*mode, "replayed as equal: clients that do not train have no samples");
    return "equal";
  }
  return *mode->text;
}

void expect_one_way_of_serving(AppflSources& sources) {
  sources.expect(sources.server("server_configs.scheduler"), {"SyncScheduler"},
                 "replayed as SyncScheduler: the server waits for all clients",
                 LossKind::changes_memory);
  sources.expect(sources.server("server_configs.aggregator"), {"FedAvgAggregator"},
                 "replayed as FedAvgAggregator", LossKind::changes_memory);
  if (const auto same = sources.server("server_configs.scheduler_kwargs.same_init_model"))
    if (!to_flag(*same)) sources.lose(*same, "all clients start from the same model");
  for (const AppflValue& ssl : sources.ending_with("use_ssl"))
    if (to_flag(ssl)) sources.lose(ssl, "the roles of a trial talk without TLS");
  for (const AppflValue& secure : sources.ending_with("use_secure_agg"))
    if (to_flag(secure))
      sources.lose(secure, "no secure aggregation here, nor the masks that it keeps",
                   LossKind::changes_memory);
}

std::string device_in(AppflSources& sources, const std::optional<AppflValue>& value) {
  if (!value) return "cpu";
  std::string device = to_text(*value);
  const bool is_known = device == "cpu" || device == "cuda" || device.starts_with("cuda:");
  if (is_known) return device;
  sources.lose(*value, "replayed on the CPU");
  return "cpu";
}

/// One where all are the same.
ordered_json import_devices(AppflSources& sources) {
  std::string server = device_in(sources, sources.server("server_configs.device"));
  const std::string client = device_in(sources, sources.shared("train_configs.device"));
  if (server == client) return server;
  return {{"server", server}, {"client", client}};
}

ordered_json import_transport(AppflSources& sources) {
  constexpr std::int64_t kAppflDefault = 2 * 1024 * 1024;
  const std::string key = "comm_configs.grpc_configs.max_message_size";
  const auto bounded = [](const AppflValue& value) {
    return to_whole(value, kLeastMessage, kMostMessage);
  };
  const auto at_server = sources.server("server_configs." + key);
  const auto at_clients = sources.client(key);
  const std::int64_t used = at_server ? bounded(*at_server) : kAppflDefault;
  if (at_clients && bounded(*at_clients) != used)
    sources.lose(*at_clients, fmt::format("both sides have one limit: the server's {}", used));
  return {{"kind", "grpc"}, {"max_message_bytes", used}};
}

/// Whether anything is trained at all.
bool is_training(AppflSources& sources) {
  const auto trainer = sources.shared("train_configs.trainer");
  if (trainer && to_text(*trainer) == "LLMDummyTrainer") return false;
  sources.expect(trainer, {"VanillaTrainer"}, "replayed as VanillaTrainer",
                 LossKind::changes_memory);
  return true;
}

}  // namespace

ordered_json import_appfl_workload(AppflSources& sources) {
  const bool training = is_training(sources);
  ordered_json workload = {{"kind", training ? "federated" : "state-dict"}};
  workload["clients"] = import_clients(sources);
  workload["rounds"] = import_rounds(sources);
  if (training) {
    import_appfl_training(sources, workload);
  } else {
    workload.update(import_appfl_state(sources));
    for (const AppflValue& value : sources.below("data_configs"))
      sources.lose(value, "carried without training: no data is read");
  }
  expect_one_way_of_serving(sources);
  if (const ordered_json devices = import_devices(sources); devices != "cpu")
    workload["device"] = devices;
  workload["weights"] = import_weights(sources, training);
  workload["transport"] = import_transport(sources);
  workload["deadline_seconds"] =
      std::min(kMostSeconds, kSecondsPerRound * workload.at("rounds").get<std::int64_t>());
  return workload;
}

}  // namespace memduel
