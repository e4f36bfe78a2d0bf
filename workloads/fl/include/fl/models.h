// The models of the workloads and their states: named tensors in the model's order, parameters and
// buffers; networks by name; models that are only a table of tensor shapes; the final model on
// disk, which is the state as it travels (fl/transport.h).
//
// The criss-cross transformer is CBraMod's network: over EEG, half of the width attends across
// channels and the other half across time. Source: J. Wang et al., "CBraMod: A Criss-Cross Brain
// Foundation Model for EEG Decoding", ICLR 2025, and its code, without the parts that only
// pretraining uses.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "fl/transport.h"

namespace memduel {

struct NamedTensor {
  std::string name;
  at::Tensor tensor;
};

using State = std::vector<NamedTensor>;

at::ScalarType torch_dtype(Dtype dtype);

/// Names, dtypes and shapes. Throws Error(usage) for a dtype that the wire does not carry.
StateTable table_of(const State& state);

/// Uninitialised tensors for every entry of a table.
State allocate_state(const StateTable& table, const at::Device& device = at::kCPU);

/// The encoded state in one buffer of exactly its size.
SharedBytes encode_state(const State& state);

/// Sum of the tensors' bytes, without table and padding.
std::size_t state_bytes(const State& state);

/// The tensor's elements. It must be contiguous and on the CPU.
std::string_view bytes_of(const at::Tensor& tensor);
char* mutable_bytes_of(const at::Tensor& tensor);

/// The tensor with its elements in main memory: itself on the CPU, a copy from a device.
at::Tensor on_cpu(const at::Tensor& tensor);

/// Lets `read` put a tensor's bytes where it is told: straight into the tensor on the CPU, else
/// into one copy of its size that then goes to the device.
template <class Read>
void fill_tensor(const at::Tensor& tensor, Read read) {
  if (tensor.is_cpu()) {
    read(mutable_bytes_of(tensor));
    return;
  }
  const torch::NoGradGuard no_grad;
  const at::Tensor staged = torch::empty(tensor.sizes(), tensor.scalar_type());
  read(mutable_bytes_of(staged));
  tensor.detach().copy_(staged);
}

/// `number` as a tensor where `divided` is. A GPU's tensor divided by a number in main memory is
/// multiplied by its reciprocal, which may end in other bits than the CPU's division. A tensor of
/// integers takes a whole number.
at::Tensor divisor_for(const at::Tensor& divided, double number);

/// The tensor of that name. Throws Error(cannot_measure) when there is none.
const at::Tensor& find_tensor(const State& state, const std::string& name);

/// Copies `from` into the tensors of the same name; a tensor that already is the same storage is
/// left alone. Names that `into` does not have are ignored, as load_state_dict(strict=False) does.
void copy_state(const State& from, const State& into);

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

/// As torch::gelu, whose gradient on the CPU LibTorch 1.13 leaves to oneDNN: given a gradient that
/// is not contiguous, that returns numbers of 1e33, other ones each time.
torch::Tensor exact_gelu(const torch::Tensor& x);

inline constexpr std::int64_t kEegPatch = 200;  ///< samples, a second
inline constexpr std::int64_t kEegClasses = 5;  ///< stages of sleep

struct CrissCrossShape {
  int layers = 12;
  int heads = 8;  ///< half of them for each direction
  std::int64_t width = 200;
  double dropout = 0.1;
};

/// For a CPU: 76,165 parameters.
inline constexpr CrissCrossShape kSmallCrissCross{4, 4, 40, 0.1};

/// What the backward pass needs of a layer: kept from the forward pass, or computed again.
enum class LayerActivations { kept, recomputed };

/// As PyTorch's MultiheadAttention, of a sequence to itself: [n, length, width] to the same.
class SelfAttention : public torch::nn::Module {
 public:
  SelfAttention(std::int64_t width, int heads, double dropout);
  torch::Tensor forward(const torch::Tensor& x);

 private:
  std::int64_t heads_;
  double dropout_;
  torch::Tensor in_proj_weight_;  ///< query, key and value, [3 × width, width]
  torch::Tensor in_proj_bias_;
  torch::nn::Linear out_proj_{nullptr};
};

/// One encoder layer: [batch, channels, patches, width] to the same.
class CrissCrossLayer : public torch::nn::Module {
 public:
  explicit CrissCrossLayer(const CrissCrossShape& shape);
  torch::Tensor forward(const torch::Tensor& x);

 private:
  torch::Tensor attend(const torch::Tensor& x);

  std::shared_ptr<SelfAttention> spatial_;
  std::shared_ptr<SelfAttention> temporal_;
  torch::nn::Linear linear1_{nullptr};
  torch::nn::Linear linear2_{nullptr};
  torch::nn::LayerNorm norm1_{nullptr};
  torch::nn::LayerNorm norm2_{nullptr};
  torch::nn::Dropout dropout_{nullptr};
};

class CrissCrossTransformer final : public ImageClassifier {
 public:
  explicit CrissCrossTransformer(const CrissCrossShape& shape = {});

  /// @param epochs [batch, channels, patches, 200], about 1 in size. Returns [batch, 5].
  torch::Tensor forward(torch::Tensor epochs) override;

  void set_activations(LayerActivations activations) { activations_ = activations; }

 private:
  torch::Tensor embed(const torch::Tensor& epochs);

  LayerActivations activations_ = LayerActivations::kept;
  std::int64_t width_;
  std::vector<torch::nn::Conv2d> convolutions_;
  std::vector<torch::nn::GroupNorm> norms_;
  torch::nn::Sequential spectral_proj_{nullptr};
  torch::nn::Conv2d positional_encoding_{nullptr};
  std::vector<std::shared_ptr<CrissCrossLayer>> layers_;
  torch::nn::Linear classifier_{nullptr};
};

/// Names of models that are tables: they need workload kind state-dict.
inline constexpr const char* kLlamaTable = "llama-3.1-8b";
inline constexpr const char* kCustomTable = "tensors";

struct NamedShape {
  std::string name;
  std::vector<std::int64_t> shape;
  bool trained = true;  ///< false: a buffer, as batch norm's statistics are
  bool counts = false;  ///< 64-bit integers instead of 32-bit floats
};

/// A config's own table: name to shape, or to {"shape", "buffer", "dtype"}. Throws Error(usage).
std::vector<NamedShape> read_table(const nlohmann::json& tensors);

/// The 291 tensors of Llama-3.1-8B, 8,030,261,248 elements: 32 layers of width 4096 with 32 query
/// and 8 key-value heads of 128, feed-forward 14336, vocabulary 128256 (Meta's published config).
std::vector<NamedShape> llama_3_1_8b();

/// The table with every first dimension scaled by one factor, rounded down but at least 1, so that
/// its tensors of 32-bit floats take about `bytes`; unchanged where `bytes` is 0. Throws
/// Error(usage) where it would have to grow.
std::vector<NamedShape> scale_table(std::vector<NamedShape> table, std::int64_t bytes);

/// Tensors with values from `seed`; no network.
Model make_state(const std::vector<NamedShape>& table, std::uint64_t seed);

/// Appears whole or not at all. Throws Error(io).
void write_model_file(const std::filesystem::path& path, const State& state);

/// Throws Error(io) when the file cannot be read, Error(cannot_measure) when it holds no state.
State read_model_file(const std::filesystem::path& path);

struct StateDifference {
  bool bit_identical = false;
  /// Largest absolute difference over all elements; absent when one is not a number.
  std::optional<double> max_abs_diff;
};

/// Throws Error(cannot_measure) when names, dtypes or shapes differ.
StateDifference compare_states(const State& a, const State& b);

}  // namespace memduel
