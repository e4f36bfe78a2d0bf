// Switches server_gc_rounds, client_gc_rounds, cuda_empty_cache and cyclic_garbage: what NVFlare
// does with what a round left. C++ lets go of a state with its last name; what Python keeps in
// reference cycles until its collector runs is a model here: states on a list, dropped at the
// collect point.
#pragma once

#include <memory>
#include <string>

#include "memduel/memory.h"
#include "workloads/federated/state.h"

namespace memduel {

class Garbage {
 public:
  Garbage() = default;
  Garbage(const Garbage&) = delete;
  Garbage& operator=(const Garbage&) = delete;
  virtual ~Garbage() = default;

  /// A state of which some cycle still holds the tensors. From any thread.
  virtual void hold(const State& state) = 0;
  /// Lets go of all that is held.
  virtual void drop() = 0;
};

/// @param value none: nothing is held, as C++ has it; until_collected: all until drop().
std::unique_ptr<Garbage> make_garbage(const std::string& value);

/// cuda_empty_cache: whether a collect point hands LibTorch's cached GPU memory back.
enum class CudaCache { kept, emptied };
CudaCache choose_cuda_cache(const std::string& value);

/// What a collect point does: drops what is held, then gives freed memory back as the process's
/// allocator allows. The garbage must outlive the result.
CleanupOptions collection(Garbage& garbage, CudaCache cuda_cache);

}  // namespace memduel
