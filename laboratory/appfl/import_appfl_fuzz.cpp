// Any bytes as APPFL's server file or a client's file: an experiment that loads as it is printed,
// or an Error.
#include <cstdint>
#include <cstdlib>
#include <optional>

#include "base/error.h"
#include "experiment/config/config.h"
#include "laboratory/appfl/import_appfl.h"
#include "laboratory/expand.h"

namespace {

constexpr const char* kServer = R"(
client_configs:
  train_configs: {num_local_steps: 5}
  model_configs: {model_name: ResNet18}
server_configs: {num_clients: 2, num_global_epochs: 3}
)";
constexpr const char* kClient = R"(
data_configs: {dataset_name: get_dummy_cifar10}
comm_configs: {grpc_configs: {max_message_size: 1048576}}
)";

std::optional<memduel::ImportedExperiment> imported(const std::string& server,
                                                    const std::string& client) {
  try {
    return memduel::import_appfl({"server.yaml", server}, {{"client.yaml", client}});
  } catch (const memduel::Error&) {
    return std::nullopt;
  }
}

/// What was imported must load: an Error here is a fault.
void import(const std::string& server, const std::string& client) {
  const auto experiment = imported(server, client);
  if (!experiment) return;
  const std::string text = memduel::render_import(*experiment, {"server.yaml", "client.yaml"});
  if (memduel::parse_experiment(text, "fuzz.json", "/", {}, memduel::ask_laboratory).baseline !=
      "original")
    std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  import(text, kClient);
  import(kServer, text);
  return 0;
}
