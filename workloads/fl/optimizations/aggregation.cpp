#include "aggregation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <unordered_map>

#include "fl/roles.h"
#include "fl/worker_config.h"
#include "util/error.h"

namespace memduel {
namespace {

/// An exponent of all ones marks infinities and NaNs. Integer arithmetic, so that the loop
/// vectorises without allowing the compiler to reorder sums.
template <class Bits, Bits exponent>
bool no_full_exponent(const char* data, std::size_t count) {
  Bits found = 0;
  for (std::size_t i = 0; i < count; ++i) {
    Bits bits;
    std::memcpy(&bits, data + i * sizeof bits, sizeof bits);
    found |= static_cast<Bits>((bits & exponent) == exponent);
  }
  return found == 0;
}

}  // namespace

bool all_finite(const char* data, std::size_t count, at::ScalarType type) {
  if (type == at::kFloat) return no_full_exponent<std::uint32_t, 0x7f800000U>(data, count);
  if (type == at::kDouble) return no_full_exponent<std::uint64_t, 0x7ff0000000000000U>(data, count);
  return true;
}

void complain_not_finite(const std::string& tensor, const std::string& client) {
  throw Error(ExitCode::cannot_measure,
              fmt::format("tensor {} contains a NaN or an infinity", tensor), client,
              "try a smaller learning rate");
}

void expect_finite(const State& state, const std::string& client) {
  for (const auto& [name, tensor] : state)
    if (!all_finite(bytes_of(on_cpu(tensor)).data(), static_cast<std::size_t>(tensor.numel()),
                    tensor.scalar_type()))
      complain_not_finite(name, client);
}

namespace {

/// The global state as the aggregator holds it: each entry from when clients first sent it.
class GlobalEntries {
 public:
  /// @param hold makes the held tensor of an entry from the model's.
  GlobalEntries(const Model& model, at::Tensor (*hold)(const at::Tensor&))
      : model_(model), hold_(hold) {}

  /// The entries that were sent, in that order, aliasing the held ones.
  State like(const State& sent) {
    State entries;
    entries.reserve(sent.size());
    for (const NamedTensor& entry : sent) {
      const auto [found, first_time] = held_.try_emplace(entry.name);
      if (first_time) found->second = hold_(find_tensor(model_.state, entry.name).detach());
      entries.push_back({entry.name, found->second});
    }
    return entries;
  }

  void replace(const State& entries) {
    for (const auto& [name, tensor] : entries) held_[name] = tensor;
  }

 private:
  const Model& model_;
  at::Tensor (*hold_)(const at::Tensor&);
  std::unordered_map<std::string, at::Tensor> held_;
};

/// A client's tensor where the global one is: what arrived on the CPU goes to the device one tensor
/// at a time.
at::Tensor local_tensor(const Contribution& one, const NamedTensor& global) {
  return find_tensor(*one.state, global.name).to(global.tensor.device());
}

at::Tensor mean_over_clients(const std::vector<Contribution>& contributions,
                             const NamedTensor& entry) {
  at::Tensor sum = torch::zeros_like(entry.tensor);
  for (const Contribution& one : contributions) sum.add_(local_tensor(one, entry));
  return sum.div(divisor_for(sum, static_cast<double>(contributions.size())))
      .to(entry.tensor.scalar_type());
}

/// Adds one client's share to the step. `difference` and `weighted` are temporaries as Python's
/// weight * (local - global) makes them.
void add_to_step(at::Tensor& step, const Contribution& one, const NamedTensor& global,
                 UploadKind upload) {
  const at::Tensor local = local_tensor(one, global);
  if (upload == UploadKind::difference) {
    step.sub_(local * one.weight);
    return;
  }
  const at::Tensor difference = local - global.tensor;
  const at::Tensor weighted = difference * one.weight;
  step.add_(weighted);
}

State clone_state(const State& state) {
  State clone;
  clone.reserve(state.size());
  for (const auto& [name, tensor] : state) clone.push_back({name, tensor.clone()});
  return clone;
}

/// Zeros for every stepped entry, undefined tensors for the others.
std::vector<at::Tensor> zero_steps(const Model& model, const State& global) {
  std::vector<at::Tensor> steps;
  steps.reserve(global.size());
  for (const NamedTensor& entry : global)
    steps.push_back(is_stepped(model, entry) ? torch::zeros_like(entry.tensor) : at::Tensor());
  return steps;
}

void add_all_to_steps(std::vector<at::Tensor>& steps,
                      const std::vector<Contribution>& contributions, const State& global,
                      UploadKind upload) {
  for (const Contribution& one : contributions)
    for (std::size_t i = 0; i < global.size(); ++i)
      if (steps[i].defined()) add_to_step(steps[i], one, global[i], upload);
}

class OutOfPlaceKeptStep final : public Aggregator {
 public:
  OutOfPlaceKeptStep(const Model& model, UploadKind upload)
      : model_(model),
        upload_(upload),
        global_(model, [](const at::Tensor& of_model) { return of_model; }) {}

  State aggregate(const std::vector<Contribution>& contributions) override {
    const torch::NoGradGuard no_grad;
    State global = global_.like(*contributions.front().state);
    step_ = zero_steps(model_, global);
    add_all_to_steps(step_, contributions, global, upload_);
    for (std::size_t i = 0; i < global.size(); ++i)
      global[i].tensor = step_[i].defined() ? global[i].tensor + step_[i]
                                            : mean_over_clients(contributions, global[i]);
    global_.replace(global);
    copy_state(global, model_.state);
    return clone_state(global);
  }

 private:
  const Model& model_;
  UploadKind upload_;
  GlobalEntries global_;  ///< alias the model in the first round, their own tensors afterwards
  std::vector<at::Tensor> step_;
};

class InPlace final : public Aggregator {
 public:
  InPlace(const Model& model, UploadKind upload)
      : model_(model),
        upload_(upload),
        global_(model, [](const at::Tensor& of_model) { return of_model.clone(); }) {}

  State aggregate(const std::vector<Contribution>& contributions) override {
    const torch::NoGradGuard no_grad;
    const State global = global_.like(*contributions.front().state);
    std::vector<at::Tensor> step = zero_steps(model_, global);
    add_all_to_steps(step, contributions, global, upload_);
    for (std::size_t i = 0; i < global.size(); ++i) {
      if (step[i].defined())
        global[i].tensor.add_(step[i]);
      else
        global[i].tensor.copy_(mean_over_clients(contributions, global[i]));
    }
    step.clear();
    copy_state(global, model_.state);
    return clone_state(global);
  }

 private:
  const Model& model_;
  UploadKind upload_;
  GlobalEntries global_;
};

using MakeAggregator = std::unique_ptr<Aggregator> (*)(const Model&, UploadKind);

template <class Kind>
std::unique_ptr<Aggregator> make(const Model& model, UploadKind upload) {
  return std::make_unique<Kind>(model, upload);
}

constexpr Choice<MakeAggregator> kAggregateChoices[] = {
    {"out_of_place_kept_step", make<OutOfPlaceKeptStep>}, {"in_place", make<InPlace>}};

}  // namespace

bool is_stepped(const Model& model, const NamedTensor& entry) {
  return model.parameters.contains(entry.name) && entry.tensor.is_floating_point();
}

std::unique_ptr<Aggregator> make_aggregator(const std::string& value, const Model& model,
                                            UploadKind upload) {
  return choose("aggregate", kAggregateChoices, value)(model, upload);
}
std::vector<std::string> aggregate_values() {
  return values_of(kAggregateChoices);
}

void WeightedTotal::add(State state, double weight, const at::Device& device,
                        const std::string& client) {
  const torch::NoGradGuard no_grad;
  const bool first = total_.empty();
  for (std::size_t i = 0; i < state.size(); ++i) {
    const NamedTensor entry = std::exchange(state[i], {});
    expect_finite({entry}, client);
    const at::Tensor value = entry.tensor.to(device);
    if (first)
      total_.push_back({entry.name, value * weight});
    else
      total_[i].tensor.add_(value, weight);
  }
  weights_ += weight;
}

State WeightedTotal::take_mean(const State& like) {
  State mean = std::exchange(total_, {});
  for (std::size_t i = 0; i < mean.size(); ++i)
    mean[i].tensor =
        mean[i].tensor.div_(divisor_for(mean[i].tensor, weights_)).to(like[i].tensor.scalar_type());
  weights_ = 0;
  return mean;
}

void WeightedTotal::clear() {
  total_.clear();
  weights_ = 0;
}

namespace {

constexpr std::size_t kBlockBytes = std::size_t{256} << 10;

/// What folding one tensor needs to know.
struct TensorFold {
  const NamedTensor& entry;
  const std::vector<FoldInput>& inputs;
  UploadKind upload;
};

/// step ± weight × difference, as two roundings.
template <class Number>
void add_share(Number* step, const Number* local, const Number* global, std::size_t count,
               Number weight, UploadKind upload) {
  if (upload == UploadKind::difference) {
    for (std::size_t i = 0; i < count; ++i) step[i] = step[i] - local[i] * weight;
    return;
  }
  for (std::size_t i = 0; i < count; ++i) {
    const Number difference = local[i] - global[i];
    const Number weighted = difference * weight;
    step[i] = step[i] + weighted;
  }
}

/// Buffers for one block of a type.
template <class Number>
struct Blocks {
  std::vector<Number> local = std::vector<Number>(kBlockBytes / sizeof(Number));
  std::vector<Number> folded = std::vector<Number>(kBlockBytes / sizeof(Number));
};

template <class Work>
void reading_from(const FoldInput& input, Work work) {
  try {
    work();
  } catch (const PeerGone& gone) {
    throw ClientLost(input.client, gone);
  }
}

template <class Number>
void read_block(const FoldInput& input, const TensorFold& fold, Number* to, std::size_t count) {
  auto* const bytes = reinterpret_cast<char*>(to);
  reading_from(input, [&] { input.stream->read_data(bytes, count * sizeof(Number)); });
  if (!all_finite(bytes, count, fold.entry.tensor.scalar_type()))
    complain_not_finite(fold.entry.name, client_name(input.client));
}

template <class Number>
void fold_steps(const TensorFold& fold, const Number* global, std::size_t count,
                Blocks<Number>& blocks) {
  std::fill_n(blocks.folded.begin(), count, Number{0});
  for (const FoldInput& input : fold.inputs) {
    read_block(input, fold, blocks.local.data(), count);
    add_share(blocks.folded.data(), blocks.local.data(), global, count,
              static_cast<Number>(input.weight), fold.upload);
  }
  for (std::size_t i = 0; i < count; ++i) blocks.folded[i] = global[i] + blocks.folded[i];
}

/// Integers are divided as PyTorch does it: as 32-bit floats, then cut off.
template <class Number>
void fold_mean(const TensorFold& fold, std::size_t count, Blocks<Number>& blocks) {
  using Quotient = std::conditional_t<std::is_floating_point_v<Number>, Number, float>;
  std::fill_n(blocks.folded.begin(), count, Number{0});
  for (const FoldInput& input : fold.inputs) {
    read_block(input, fold, blocks.local.data(), count);
    for (std::size_t i = 0; i < count; ++i) blocks.folded[i] += blocks.local[i];
  }
  const auto clients = static_cast<Quotient>(fold.inputs.size());
  for (std::size_t i = 0; i < count; ++i)
    blocks.folded[i] = static_cast<Number>(static_cast<Quotient>(blocks.folded[i]) / clients);
}

/// How many of `left` numbers to fold next: a block, but no more than the first client's piece
/// still holds. Where clients cut alike, every piece is then used up in one turn, and none is held
/// while the others are read.
template <class Number>
std::size_t next_count(const TensorFold& fold, std::size_t left) {
  const std::size_t at_hand = fold.inputs.front().stream->data_at_hand() / sizeof(Number);
  const std::size_t block = std::min(left, kBlockBytes / sizeof(Number));
  return at_hand == 0 ? block : std::min(block, at_hand);
}

template <class Number>
void fold_tensor(const TensorFold& fold, bool stepped, Staging& staging) {
  Blocks<Number> blocks;
  const auto total = static_cast<std::size_t>(fold.entry.tensor.numel());
  const at::Tensor held = on_cpu(fold.entry.tensor);
  const auto* const global = held.template data_ptr<Number>();
  std::size_t count = 0;
  for (std::size_t first = 0; first < total; first += count) {
    count = next_count<Number>(fold, total - first);
    if (stepped)
      fold_steps(fold, global + first, count, blocks);
    else
      fold_mean(fold, count, blocks);
    staging.append({reinterpret_cast<const char*>(blocks.folded.data()), count * sizeof(Number)});
  }
}

void fold_any(const TensorFold& fold, bool stepped, Staging& staging) {
  switch (fold.entry.tensor.scalar_type()) {
    case at::kFloat:
      fold_tensor<float>(fold, stepped, staging);
      break;
    case at::kDouble:
      fold_tensor<double>(fold, stepped, staging);
      break;
    case at::kInt:
      fold_tensor<std::int32_t>(fold, stepped, staging);
      break;
    default:
      fold_tensor<std::int64_t>(fold, stepped, staging);
      break;
  }
}

}  // namespace

void streaming_fold(const Model& model, const State& part, const std::vector<FoldInput>& inputs,
                    UploadKind upload, Staging& staging) {
  staging.abandon();
  for (const NamedTensor& entry : part)
    fold_any({entry, inputs, upload}, is_stepped(model, entry), staging);
  for (const FoldInput& input : inputs) reading_from(input, [&] { input.stream->expect_end(); });
  staging.commit(part);
}

}  // namespace memduel
