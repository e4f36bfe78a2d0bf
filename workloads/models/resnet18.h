// ResNet18 for 32×32 images: a 3×3 stem without pooling, four stages of two basic blocks with 64 to
// 512 maps (He et al. 2016, as in the common CIFAR form). 11,173,962 parameters, 122 state entries.
#pragma once

#include "workloads/models/model.h"

namespace memduel {

std::shared_ptr<ImageClassifier> make_resnet18();

}  // namespace memduel
