// KD-GAT's networks as shapes: what their parameters and activations take, without building them.
// Sources: src/models/gat.py and vgae.py of KD-GAT; the counts are those of PyTorch Geometric.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "budget/memory_budget.h"

namespace memduel {

/// Graph attention with jumping knowledge, a mean over the nodes, and fully connected layers.
struct GatShape {
  int hidden = 48;  ///< per head
  int layers = 3;
  int heads = 8;
  int embedding = 16;
  int fully_connected = 2;
  int classes = 2;
};

/// A variational autoencoder that gives back node features, identifiers and neighbours. Layers of
/// graph attention narrow to `latent` and widen again.
struct VgaeShape {
  std::vector<int> hidden = {480, 240};
  int latent = 48;
  int heads = 4;          ///< of the first layer, where they divide its width
  int decoder_heads = 4;  ///< of all but the last layer that widens, likewise
  int embedding = 32;
};

struct GraphModel {
  std::string name;
  std::variant<GatShape, VgaeShape> shape;
  std::optional<double> safety_factor;  ///< absent where KD-GAT gives none
};

/// gat-large, gat-small, gat-old-teacher, vgae-large, vgae-small, vgae-old-teacher.
const std::vector<GraphModel>& graph_models();

/// Throws Error(usage) naming the nearest.
const GraphModel& find_graph_model(const std::string& name);

/// Identifiers and node features that KD-GAT's own counts are for.
inline constexpr int kPublishedIdentifiers = 500;
inline constexpr int kGraphInputs = 11;

std::int64_t parameter_count(const GraphModel& model, int identifiers = kPublishedIdentifiers);
std::int64_t embedding_count(const GraphModel& model, int identifiers = kPublishedIdentifiers);

/// Its layers of graph attention, the widest of them and the most heads, as KD-GAT's estimate looks
/// at them, on a graph of so many nodes and edges.
GraphNetwork network_of(const GraphModel& model, double nodes, double edges);

}  // namespace memduel
