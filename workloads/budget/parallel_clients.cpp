#include "budget/parallel_clients.h"

#include <fmt/format.h>

#include <algorithm>

#include "budget/memory_budget.h"
#include "util/error.h"
#include "util/text.h"

namespace memduel {
namespace {

constexpr std::int64_t kMebibyte = std::int64_t{1} << 20;
constexpr int kStatesPerClient = 4;
constexpr double kUsableShare = 0.6;

struct SimulatedModel {
  const char* name;
  std::int64_t parameters;
  std::int64_t client_bytes;  ///< with gradients, by the guide
};

// Convolutions 5×5 of 10 and 20 maps and layers of 320-50-10; 3×3 of 32, 64 and 128 maps on three
// channels and 2048-256-10; torchvision's with a last layer of ten.
constexpr SimulatedModel kModels[] = {{"csfl-cnn", 21'840, 200 * kMebibyte},
                                      {"csfl-light-cnn", 620'362, 300 * kMebibyte},
                                      {"resnet18", 11'181'642, 500 * kMebibyte}};

struct PublishedSetting {
  int device_gib;
  int clients;
  PublishedSettings beside;
};

constexpr PublishedSetting kPublished[] = {{4, 2, {"50-100", "5-10", "100"}},
                                           {8, 4, {"100-200", "10-20", "200"}},
                                           {12, 6, {"200-500", "20-50", "300"}},
                                           {16, 8, {"500-1000", "50-100", "any"}}};

/// The global model and its average stay; a client is what its guide says that it needs.
std::int64_t clients_estimated(std::int64_t device_bytes, const SimulatedModel& model) {
  BudgetInput input;
  input.device_bytes = static_cast<double>(device_bytes);
  input.parameter_bytes = static_cast<double>(model.parameters) * sizeof(float);
  input.optimizer_states = 0;
  input.sample_bytes = static_cast<double>(model.client_bytes);
  input.least_batch = 1;
  input.most_batch = kMostAutomatic;
  return plan_budget(input).batch;
}

std::string words_of(std::int64_t bytes) {
  return format_bytes(static_cast<double>(bytes));
}

/// The numbers that there are for one client.
std::string origin_of(const ClientBytes& client) {
  std::string text = fmt::format("a client takes {} by the code's formula ({} states × {})",
                                 words_of(formula_client_bytes(client.state)), kStatesPerClient,
                                 words_of(client.state));
  if (client.measured) text += fmt::format(", {} measured", words_of(*client.measured));
  if (client.published)
    text += fmt::format(", {} according to the guide", words_of(*client.published));
  return text + "; with -1, as many run as fit by the formula";
}

}  // namespace

std::int64_t formula_client_bytes(std::int64_t state_bytes) {
  return kStatesPerClient * state_bytes;
}

std::optional<std::int64_t> published_client_bytes(const std::string& model) {
  for (const SimulatedModel& one : kModels)
    if (model == one.name) return one.client_bytes;
  return std::nullopt;
}

int clients_at_once(int requested, const ClientBytes& client, std::int64_t available_bytes,
                    int most) {
  const std::int64_t formula = std::max<std::int64_t>(formula_client_bytes(client.state), 1);
  const std::int64_t usable =
      static_cast<std::int64_t>(kUsableShare * static_cast<double>(available_bytes));
  if (requested == -1)
    return static_cast<int>(std::clamp<std::int64_t>(usable / formula, 1, std::max(most, 1)));
  const std::int64_t each = std::max(formula, client.measured.value_or(0));
  if (requested > 1 && requested > usable / each)
    throw Error(ExitCode::usage,
                fmt::format("expected at most {}, found {}: {} × {} = {}, but {:.0f}% of the {} "
                            "available is {}",
                            std::max<std::int64_t>(usable / each, 1), requested, requested,
                            words_of(each), words_of(requested * each), 100 * kUsableShare,
                            words_of(available_bytes), words_of(usable)),
                "workload.parallel_clients", origin_of(client));
  return std::max(requested, 1);
}

std::vector<ParallelClients> parallel_clients() {
  std::vector<ParallelClients> rows;
  for (const SimulatedModel& model : kModels) {
    const auto parameter_bytes = model.parameters * static_cast<std::int64_t>(sizeof(float));
    for (const PublishedSetting& setting : kPublished) {
      const std::int64_t device_bytes = setting.device_gib * 1024 * kMebibyte;
      rows.push_back({model.name, static_cast<double>(device_bytes), setting.clients,
                      clients_at_once(-1, {.state = parameter_bytes}, device_bytes, kMostAutomatic),
                      clients_estimated(device_bytes, model), setting.beside});
    }
  }
  return rows;
}

}  // namespace memduel
