// Switch pseudo_gradient: how previous - new is made where clients send differences.
#pragma once

#include <memory>
#include <string>
#include <unordered_set>

#include "workloads/federated/state.h"

namespace memduel {

class PseudoGradient {
 public:
  PseudoGradient() = default;
  PseudoGradient(const PseudoGradient&) = delete;
  PseudoGradient& operator=(const PseudoGradient&) = delete;
  virtual ~PseudoGradient() = default;

  /// previous - trained for the entries in `parameters`; the others keep the trained value.
  /// `previous` may be consumed. Throws Error(cannot_measure) naming a parameter of integers, and
  /// `previous` is as before.
  [[nodiscard]] virtual State compute(State& previous, const State& trained,
                                      const std::unordered_set<std::string>& parameters) const = 0;
};

/// @param value out_of_place_kept: a third set of tensors, previous stays until the next round;
/// in_place: previous itself becomes the difference.
std::unique_ptr<PseudoGradient> make_pseudo_gradient(const std::string& value);

}  // namespace memduel
