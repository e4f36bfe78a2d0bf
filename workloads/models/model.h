// The models of the replays, and their states.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_set>

#include "workloads/federated/state.h"

namespace memduel {

/// Images to class scores: [batch, channels, height, width] to [batch, classes]. Epochs of EEG have
/// a patch in place of each row of pixels.
class ImageClassifier : public torch::nn::Module {
 public:
  virtual torch::Tensor forward(torch::Tensor images) = 0;
};

struct Model {
  std::shared_ptr<ImageClassifier> network;    ///< absent where a state alone is carried
  State state;                                 ///< aliases the network's tensors
  std::unordered_set<std::string> parameters;  ///< names of the trainable entries
};

/// Builds a model by name with weights from `seed`. Throws Error(usage) naming the known models.
Model make_model(const std::string& name, std::uint64_t seed);

/// The model on a device; its state aliases the tensors there.
Model move_to(Model model, const at::Device& device);

/// Where the model's tensors are.
at::Device device_of(const Model& model);

/// Number of trainable elements.
std::int64_t parameter_count(const Model& model);

std::vector<std::string> model_names();

/// Any network's entries, in the same order; they alias its tensors.
State state_of(const torch::nn::Module& network);

/// A network's entries in Python's state_dict order: a module's own parameters, its own buffers,
/// then its children.
Model wrap_network(std::shared_ptr<ImageClassifier> network);

}  // namespace memduel
