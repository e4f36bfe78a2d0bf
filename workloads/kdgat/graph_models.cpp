#include "kdgat/graph_models.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "util/error.h"
#include "util/text.h"

namespace memduel {
namespace {

std::int64_t linear(std::int64_t in, std::int64_t out) {
  return in * out + out;
}

/// One layer of graph attention: weights without bias, two attention vectors a head, a bias.
struct Attention {
  std::int64_t in = 0;
  std::int64_t per_head = 0;
  std::int64_t heads = 1;

  [[nodiscard]] std::int64_t out() const { return per_head * heads; }
  [[nodiscard]] std::int64_t parameters() const { return in * out() + 3 * out(); }
};

/// The identifier becomes an embedding, the other features stay.
std::int64_t input_width(int embedding) {
  return embedding + kGraphInputs - 1;
}

std::vector<Attention> attentions(const GatShape& shape) {
  std::vector<Attention> layers;
  for (int i = 0; i < shape.layers; ++i)
    layers.push_back(
        {i == 0 ? input_width(shape.embedding) : layers.back().out(), shape.hidden, shape.heads});
  return layers;
}

Attention with_heads(std::int64_t in, int width, int heads) {
  if (width % heads != 0) heads = 1;
  return {in, width / heads, heads};
}

std::vector<Attention> attentions(const VgaeShape& shape) {
  std::vector<Attention> layers;
  for (std::size_t i = 0; i < shape.hidden.size(); ++i)
    layers.push_back(with_heads(i == 0 ? input_width(shape.embedding) : layers.back().out(),
                                shape.hidden[i], i == 0 ? shape.heads : 1));
  std::int64_t in = shape.latent;
  for (std::size_t i = shape.hidden.size(); i > 1; --i) {
    layers.push_back(with_heads(in, shape.hidden[i - 1], shape.decoder_heads));
    in = layers.back().out();
  }
  layers.push_back({in, kGraphInputs - 1, 1});
  return layers;
}

std::int64_t attention_parameters(const std::vector<Attention>& layers) {
  std::int64_t count = 0;
  for (const Attention& layer : layers) count += layer.parameters();
  return count;
}

std::int64_t parameters_without_embedding(const GatShape& shape, int /*identifiers*/) {
  const std::int64_t joined = std::int64_t{shape.hidden} * shape.heads * shape.layers;
  return attention_parameters(attentions(shape)) +
         (shape.fully_connected - 1) * linear(joined, joined) + linear(joined, shape.classes);
}

std::int64_t parameters_without_embedding(const VgaeShape& shape, int identifiers) {
  const std::vector<Attention> layers = attentions(shape);
  std::int64_t count = attention_parameters(layers);
  // Every layer but the last is followed by a batch norm.
  for (std::size_t i = 0; i + 1 < layers.size(); ++i) count += 2 * layers[i].out();
  count += 2 * linear(shape.hidden.back(), shape.latent);  // mean and logarithm of the variance
  count += 2 * linear(shape.latent, shape.latent);
  return count + 2 * linear(shape.latent, identifiers);  // which identifier, and which neighbours
}

}  // namespace

const std::vector<GraphModel>& graph_models() {
  static const std::vector<GraphModel> kModels = {
      {"gat-large", GatShape{}, 0.5},
      {"gat-small", GatShape{24, 2, 4, 8, 3}, 0.55},
      {"gat-old-teacher", GatShape{64, 5, 8, 32, 3}, std::nullopt},
      {"vgae-large", VgaeShape{}, 0.55},
      {"vgae-small", VgaeShape{{80, 40}, 16, 1, 4, 4}, 0.6},
      {"vgae-old-teacher", VgaeShape{{1024, 512}, 96, 4, 4, 64}, std::nullopt},
  };
  return kModels;
}

const GraphModel& find_graph_model(const std::string& name) {
  std::vector<std::string> names;
  for (const GraphModel& model : graph_models()) {
    if (model.name == name) return model;
    names.push_back(model.name);
  }
  const std::optional<std::string> nearest = nearest_name(name, names);
  throw Error(ExitCode::usage, fmt::format("found the model \"{}\"", name), "",
              fmt::format("expected one of {}{}", fmt::join(names, ", "),
                          nearest ? "; did you mean " + *nearest + "?" : ""));
}

std::int64_t embedding_count(const GraphModel& model, int identifiers) {
  return std::visit([&](const auto& shape) { return std::int64_t{shape.embedding} * identifiers; },
                    model.shape);
}

std::int64_t parameter_count(const GraphModel& model, int identifiers) {
  return embedding_count(model, identifiers) +
         std::visit(
             [&](const auto& shape) { return parameters_without_embedding(shape, identifiers); },
             model.shape);
}

GraphNetwork network_of(const GraphModel& model, double nodes, double edges) {
  const std::vector<Attention> layers =
      std::visit([](const auto& shape) { return attentions(shape); }, model.shape);
  GraphNetwork network{nodes, edges, static_cast<int>(layers.size()), 0, 1};
  for (const Attention& layer : layers) {
    network.channels = std::max(network.channels, static_cast<int>(layer.per_head));
    network.heads = std::max(network.heads, static_cast<int>(layer.heads));
  }
  return network;
}

}  // namespace memduel
