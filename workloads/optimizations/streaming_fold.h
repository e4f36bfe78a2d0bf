// FedAvg without the clients' states: all uploads are read in lockstep, a block of every client in
// turn, and folded into the new state. The arithmetic is aggregate.h's: products first, then sums,
// clients in order, so the bits are the same. It folds on the CPU, wherever the model is.
#pragma once

#include <memory>
#include <vector>

#include "workloads/models/model.h"
#include "workloads/optimizations/aggregate.h"
#include "workloads/optimizations/model_stream.h"
#include "workloads/optimizations/staging.h"

namespace memduel {

/// A client whose stream broke while it was folded.
class ClientLost : public PeerGone {
 public:
  ClientLost(int client, const PeerGone& why)
      : PeerGone(why.what(), why.where()), client_(client) {}
  [[nodiscard]] int client() const { return client_; }

 private:
  int client_;
};

struct FoldInput {
  int client = 0;
  double weight = 0;
  ModelStream* stream = nullptr;  ///< its table has been read and is the model's
};

/// Reads every input to its end, then replaces `part` of the model's state, whose tensors alias the
/// model's. On an exception they are untouched. Throws Error(cannot_measure) naming client and
/// tensor where a value is not finite, ClientLost where a stream breaks.
void streaming_fold(const Model& model, const State& part, const std::vector<FoldInput>& inputs,
                    UploadKind upload, Staging& staging);

}  // namespace memduel
