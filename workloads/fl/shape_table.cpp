#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "fl/models.h"
#include "util/error.h"

namespace memduel {
namespace {

std::int64_t elements(const std::vector<NamedShape>& table) {
  std::int64_t sum = 0;
  for (const NamedShape& one : table)
    sum +=
        std::accumulate(one.shape.begin(), one.shape.end(), std::int64_t{1}, std::multiplies<>());
  return sum;
}

}  // namespace

std::vector<NamedShape> read_table(const nlohmann::json& tensors) {
  std::vector<NamedShape> table;
  for (const auto& [name, entry] : tensors.items()) {
    const nlohmann::json shape = entry.is_object() ? entry.value("shape", nlohmann::json()) : entry;
    const bool sizes = shape.is_array() && std::ranges::all_of(shape, [](const auto& one) {
                         return one.is_number_integer() && one.template get<std::int64_t>() > 0;
                       });
    if (!sizes)
      throw Error(ExitCode::usage,
                  fmt::format("expected a list of whole numbers above 0, found {}", shape.dump()),
                  "workload.tensors." + name);
    NamedShape one{name, shape.get<std::vector<std::int64_t>>()};
    if (entry.is_object()) {
      one.counts = entry.value("dtype", "float32") == "int64";
      one.trained = !entry.value("buffer", false);
    }
    table.push_back(std::move(one));
  }
  if (table.empty())
    throw Error(ExitCode::usage, "model \"tensors\" needs a table of name to shape",
                "workload.tensors");
  return table;
}

std::vector<NamedShape> llama_3_1_8b() {
  constexpr std::int64_t kWidth = 4096;
  constexpr std::int64_t kKeyValue = 1024;
  constexpr std::int64_t kFeedForward = 14336;
  constexpr std::int64_t kVocabulary = 128256;
  constexpr int kLayers = 32;
  std::vector<NamedShape> table = {{"model.embed_tokens.weight", {kVocabulary, kWidth}}};
  for (int layer = 0; layer < kLayers; ++layer) {
    const auto add = [&](const char* name, std::vector<std::int64_t> shape) {
      table.push_back({fmt::format("model.layers.{}.{}.weight", layer, name), std::move(shape)});
    };
    add("self_attn.q_proj", {kWidth, kWidth});
    add("self_attn.k_proj", {kKeyValue, kWidth});
    add("self_attn.v_proj", {kKeyValue, kWidth});
    add("self_attn.o_proj", {kWidth, kWidth});
    add("mlp.gate_proj", {kFeedForward, kWidth});
    add("mlp.up_proj", {kFeedForward, kWidth});
    add("mlp.down_proj", {kWidth, kFeedForward});
    add("input_layernorm", {kWidth});
    add("post_attention_layernorm", {kWidth});
  }
  table.push_back({"model.norm.weight", {kWidth}});
  table.push_back({"lm_head.weight", {kVocabulary, kWidth}});
  return table;
}

std::vector<NamedShape> scale_table(std::vector<NamedShape> table, std::int64_t bytes) {
  if (bytes == 0) return table;
  const std::int64_t whole = elements(table) * static_cast<std::int64_t>(sizeof(float));
  if (bytes > whole)
    throw Error(ExitCode::usage,
                fmt::format("expected at most {} bytes, as the table has, found {}", whole, bytes),
                "workload.state_bytes");
  const double factor = static_cast<double>(bytes) / static_cast<double>(whole);
  for (NamedShape& one : table) {
    if (one.shape.empty()) continue;
    const double scaled = std::floor(static_cast<double>(one.shape[0]) * factor);
    one.shape[0] = std::max<std::int64_t>(1, static_cast<std::int64_t>(scaled));
  }
  return table;
}

Model make_state(const std::vector<NamedShape>& table, std::uint64_t seed) {
  torch::manual_seed(seed);
  Model model;
  for (const NamedShape& one : table) {
    model.state.push_back({one.name, one.counts ? torch::randint(1000, one.shape, torch::kLong)
                                                : torch::empty(one.shape).uniform_(-0.1, 0.1)});
    if (one.trained) model.parameters.insert(one.name);
  }
  return model;
}

}  // namespace memduel
