// Switches state_snapshot and upload_state: how a copy of the model's state is made, before the
// training of a round (for pseudo-gradients) and after it (to send).
#pragma once

#include <memory>
#include <string>

#include "workloads/federated/state.h"

namespace memduel {

class StateSnapshot {
 public:
  StateSnapshot() = default;
  StateSnapshot(const StateSnapshot&) = delete;
  StateSnapshot& operator=(const StateSnapshot&) = delete;
  virtual ~StateSnapshot() = default;

  [[nodiscard]] virtual State take(const State& live) const = 0;
};

/// @param value deep_copy or clone_detach.
std::unique_ptr<StateSnapshot> make_state_snapshot(const std::string& value);

/// @param value deep_copy, clone_detach or reference (the live tensors themselves).
std::unique_ptr<StateSnapshot> make_upload_state(const std::string& value);

}  // namespace memduel
