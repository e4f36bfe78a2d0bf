// The activation GELU, with a gradient that can be relied on.
#pragma once

#include <torch/torch.h>

namespace memduel {

/// As torch::gelu, whose gradient on the CPU LibTorch 1.13 leaves to oneDNN: given a gradient that
/// is not contiguous, that returns numbers of 1e33, other ones each time.
torch::Tensor exact_gelu(const torch::Tensor& x);

}  // namespace memduel
