// Which clients take part in a round of a simulation.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "workloads/datasets/random.h"

namespace memduel {

class Selection {
 public:
  Selection() = default;
  Selection(const Selection&) = delete;
  Selection& operator=(const Selection&) = delete;
  virtual ~Selection() = default;

  /// Different clients, counted from 0; as many as it was made for.
  virtual std::vector<std::size_t> next() = 0;
  /// What a client's last batch lost.
  virtual void observe(std::size_t /*client*/, double /*loss*/) {}
};

struct SelectionOptions {
  std::size_t clients = 0;
  std::size_t per_round = 0;  ///< at most `clients`
  std::uint64_t seed = 1;
};

/// @param method random; highest_loss: those whose last loss was highest, clients without one
/// first; round_robin: one after the other. Throws Error(usage) for another, and for more per round
/// than there are.
std::unique_ptr<Selection> make_selection(const std::string& method,
                                          const SelectionOptions& options);
std::vector<std::string> selection_methods();

}  // namespace memduel
