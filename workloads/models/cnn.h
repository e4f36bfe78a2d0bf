// APPFL's CNN: two 5×5 convolutions (32 and 64 maps), each with ReLU and 2×2 pooling, then a hidden
// layer of 512. 582,026 parameters on 28×28 grey images, 878,538 on 32×32 in colour.
#pragma once

#include "workloads/models/model.h"

namespace memduel {

std::shared_ptr<ImageClassifier> make_cnn(std::int64_t channels, std::int64_t pixels_per_side);

}  // namespace memduel
