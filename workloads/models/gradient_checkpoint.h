// Gradient checkpointing: a block's activations are computed again for the backward pass instead of
// being kept from the forward pass.
#pragma once

#include <torch/torch.h>

#include <functional>
#include <vector>

namespace memduel {

/// One tensor to one tensor; what else it reads is captured and gets no gradient.
using Block = std::function<torch::Tensor(const torch::Tensor&)>;

/// block(input), of which only the input is kept. The backward pass computes it again with the same
/// random numbers and in the same precision, so that gradients have the bits that they have without
/// (fp32 on one thread of the CPU), and whatever draws random numbers later draws the same. Without
/// a gradient to compute it is a plain call.
/// @param parameters all that the block reads and that are trained.
torch::Tensor checkpointed(const Block& block, const torch::Tensor& input,
                           const std::vector<torch::Tensor>& parameters);

}  // namespace memduel
