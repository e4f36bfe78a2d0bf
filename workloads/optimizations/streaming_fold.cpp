#include "workloads/optimizations/streaming_fold.h"

#include <algorithm>

#include "workloads/federated/finite.h"
#include "workloads/federated/role_setup.h"

namespace memduel {
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
