// Switch aggregate: FedAvg over the clients' states.
//
// Trainable floating-point entries: step = sum over clients of weight × (local - global), then
// global + step; where clients send differences, step = -(sum of weight × difference). All other
// entries (integers, batch-norm statistics): the plain mean over clients, cast back to their type.
// Products first, then sums, clients in order of their number: the same bits in every value.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "workloads/models/model.h"

namespace memduel {

struct Contribution {
  int client = 0;     ///< from 1
  double weight = 0;  ///< weights of all clients sum to 1
  const State* state = nullptr;
};

/// What a client's trainable entries hold.
enum class UploadKind { weights, difference };

/// Whether FedAvg steps the entry; else it takes the mean.
bool is_stepped(const Model& model, const NamedTensor& entry);

class Aggregator {
 public:
  Aggregator() = default;
  Aggregator(const Aggregator&) = delete;
  Aggregator& operator=(const Aggregator&) = delete;
  virtual ~Aggregator() = default;

  /// The new global state of the entries that the contributions carry, to be sent; the model holds
  /// it too. Every contribution has the same entries, which the model has.
  virtual State aggregate(const std::vector<Contribution>& contributions) = 0;
};

/// Value of the switch that needs no Aggregator: uploads are folded as they come
/// (streaming_fold.h).
inline constexpr const char* kStreamingFold = "streaming_fold";
/// Likewise: weighted means (weighted_total.h) of whole uploads, once all are there or each in
/// turn.
inline constexpr const char* kCollectAll = "collect_all";
inline constexpr const char* kInTime = "in_time";

/// @param value out_of_place_kept_step: a new global state each round, the step kept for ever;
/// in_place: the step is accumulated and added in place and released.
std::unique_ptr<Aggregator> make_aggregator(const std::string& value, const Model& model,
                                            UploadKind upload);
/// Without those that need none.
std::vector<std::string> aggregate_values();

}  // namespace memduel
