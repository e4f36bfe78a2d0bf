// FedAvg without the clients' states: all uploads are read in lockstep, a block of every client in
// turn, and folded into the new state. The arithmetic is aggregate.h's: products first, then sums,
// clients in order, so the bits are the same.
#pragma once

#include <memory>
#include <vector>

#include "workloads/models/model.h"
#include "workloads/optimizations/aggregate.h"
#include "workloads/optimizations/model_stream.h"
#include "workloads/optimizations/staging.h"

namespace memduel {

struct FoldInput {
  int client = 0;
  double weight = 0;
  ModelStream* stream = nullptr;  ///< its table has been read and is the model's
};

/// Reads every input to its end, then replaces the model's state. On an exception the model's state
/// is untouched. Throws Error(cannot_measure) naming client and tensor where a value is not finite.
void streaming_fold(const Model& model, const std::vector<FoldInput>& inputs, UploadKind upload,
                    Staging& staging);

}  // namespace memduel
