#include "training/parallel_clients.h"

#include <algorithm>
#include <cmath>

#include "training/memory_budget.h"

namespace memduel {
namespace {

constexpr std::int64_t kMostClients = 8;

struct PublishedSetting {
  double device_gib;
  int clients;
};

constexpr PublishedSetting kPublished[] = {{4, 2}, {8, 4}, {12, 6}, {16, 8}};

/// What ParallelTrainer does with -1: nothing but parameters is counted, four times.
std::int64_t clients_as_coded(double device_bytes, double parameter_bytes) {
  const double clients = std::floor(0.6 * device_bytes / (4 * parameter_bytes));
  return static_cast<std::int64_t>(std::clamp(clients, 1.0, static_cast<double>(kMostClients)));
}

/// The global model and its average stay; a client is what its guide says that it needs.
std::int64_t clients_estimated(double device_bytes, const SimulatedModel& model) {
  BudgetInput input;
  input.device_bytes = device_bytes;
  input.parameter_bytes = static_cast<double>(model.parameters) * sizeof(float);
  input.optimizer_states = 0;
  input.sample_bytes = model.client_bytes;
  input.least_batch = 1;
  input.most_batch = kMostClients;
  return plan_budget(input).batch;
}

}  // namespace

// Convolutions 5×5 of 10 and 20 maps and layers of 320-50-10; 3×3 of 32, 64 and 128 maps on three
// channels and 2048-256-10; torchvision's with a last layer of ten.
const std::vector<SimulatedModel>& simulated_models() {
  static const std::vector<SimulatedModel> kModels = {
      {"cnn-mnist", 21'840, 200 * kMiB},
      {"light-cnn", 620'362, 300 * kMiB},
      {"resnet18", 11'181'642, 500 * kMiB},
  };
  return kModels;
}

std::vector<ParallelClients> parallel_clients() {
  std::vector<ParallelClients> rows;
  for (const SimulatedModel& model : simulated_models()) {
    for (const PublishedSetting& setting : kPublished) {
      const double device_bytes = setting.device_gib * 1024 * kMiB;
      const double parameter_bytes = static_cast<double>(model.parameters) * sizeof(float);
      rows.push_back({model.name, device_bytes, setting.clients,
                      clients_as_coded(device_bytes, parameter_bytes),
                      clients_estimated(device_bytes, model)});
    }
  }
  return rows;
}

}  // namespace memduel
