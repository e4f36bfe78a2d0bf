// Switch aggregate: FedAvg over the clients' states.
//
// Trainable floating-point entries: step = sum over clients of weight × (local - global), then
// global + step; where clients send differences, step = -(sum of weight × difference). All other
// entries (integers, batch-norm statistics): the plain mean over clients, cast back to their type.
// Products first, then sums, clients in order of their number: the same bits in every value.
//
// collect_all and in_time: the weighted mean of NVFlare's WeightedAggregationHelper. The total
// starts as the first state times its weight, then takes in weight × state in place; the mean is
// the total over the sum of the weights. Every entry alike, integers and batch-norm statistics
// too; integers are cut back to their type at the end.
//
// streaming_fold: FedAvg without the clients' states. All uploads are read in lockstep, a block of
// every client in turn, and folded into the new state, with FedAvg's arithmetic and so the same
// bits, on the CPU, wherever the model is.
//
// Infinities and NaNs in what clients send are refused.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "fl/models.h"
#include "staging.h"
#include "transport/chunked_transfer.h"

namespace memduel {

/// Whether all numbers are finite; integers always are. `count` elements lie at `data`.
bool all_finite(const char* data, std::size_t count, at::ScalarType type);

/// Throws Error(cannot_measure) naming the client and the first tensor with a NaN or an infinity.
void expect_finite(const State& state, const std::string& client);

/// The same complaint, for one tensor.
[[noreturn]] void complain_not_finite(const std::string& tensor, const std::string& client);

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

/// Value of the switch that needs no Aggregator: uploads are folded as they come.
inline constexpr const char* kStreamingFold = "streaming_fold";
/// Likewise: weighted means of whole uploads, once all are there or each in
/// turn.
inline constexpr const char* kCollectAll = "collect_all";
inline constexpr const char* kInTime = "in_time";

/// @param value out_of_place_kept_step: a new global state each round, the step kept for ever;
/// in_place: the step is accumulated and added in place and released.
std::unique_ptr<Aggregator> make_aggregator(const std::string& value, const Model& model,
                                            UploadKind upload);
/// Without those that need none.
std::vector<std::string> aggregate_values();

class WeightedTotal {
 public:
  /// Adds a state whose tensors have the names and order of the first; each is let go of once it is
  /// added. @param client for messages. Throws Error(cannot_measure) for a value that is not
  /// finite.
  void add(State state, double weight, const at::Device& device, const std::string& client);

  /// The mean, with the element types of `like`, which has the same order; the total starts anew.
  /// The weights' sum must be positive.
  State take_mean(const State& like);

  void clear();

 private:
  State total_;
  double weights_ = 0;
};

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
