// CSFL-simulator's two small networks.
#pragma once

#include <memory>

#include "workloads/models/model.h"

namespace memduel {

/// CNN-MNIST, for images of 28 × 28 pixels in one channel: 21,840 parameters.
std::shared_ptr<ImageClassifier> make_csfl_cnn();

/// LightCNN, for images of 32 × 32 pixels in three channels: 620,362 parameters.
std::shared_ptr<ImageClassifier> make_csfl_light_cnn();

}  // namespace memduel
