// Switch aggregate, seen from the server: how a round's uploads are taken in and averaged. Either
// each handler receives its client's whole state and the states are averaged afterwards, or each
// adds it to the mean when it is its turn, or the handlers only open their streams and the main
// thread folds all of them in lockstep.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "exchange.h"
#include "fl/models.h"
#include "fl/worker_config.h"
#include "optimizations/optimizations.h"

namespace memduel {

class Rounds {
 public:
  Rounds() = default;
  Rounds(const Rounds&) = delete;
  Rounds& operator=(const Rounds&) = delete;
  virtual ~Rounds() = default;

  /// On the main thread, before an exchange opens: what it is about. The part's tensors alias the
  /// model's.
  void begin(State part) {
    expected_ = table_of(part);
    part_ = std::move(part);
  }

  /// Whether clients are taken in one after the other, in the order of their numbers.
  [[nodiscard]] virtual bool takes_turns() const { return false; }

  /// In a handler: takes in what a client sends of the part. Throws Error(cannot_measure) where its
  /// tensors are not the part's. @param weight of the client against the others; any sum.
  virtual Upload take(int client, double weight, Call& call, CallFrame& frame) = 0;

  /// On the main thread: averages the part into the model. @param weights one per upload, sum 1.
  /// Returns the state to send. The uploads' streams are read to their ends, their states may be
  /// gone. Throws ClientLost (aggregation.h), and the part is as before; parts averaged earlier
  /// in the round stay new.
  virtual State average(std::vector<Upload>& uploads, const std::vector<double>& weights) = 0;

  /// The part as the model has it, to send before the first round.
  [[nodiscard]] virtual State initial() const = 0;

 protected:
  [[nodiscard]] const State& part() const { return part_; }
  [[nodiscard]] const StateTable& expected() const { return expected_; }  ///< the part's tensors

 private:
  State part_;
  StateTable expected_;
};

/// What the clients of this workload send.
UploadKind upload_kind(const WorkerConfig& config);

/// Makes a round's answer. Switch local_models: the clients' states are dropped first, or left for
/// drop_answered.
std::shared_ptr<const PreparedResponse> prepare_answer(State global, std::vector<Upload>& uploads,
                                                       const Optimizations& optimizations);

/// Once the answer is handed out. Switch local_models: the clients' states are dropped, or left
/// until the next round's replace them.
void drop_answered(std::vector<Upload>& uploads, const Optimizations& optimizations);

/// References must outlive the result.
std::unique_ptr<Rounds> make_rounds(const WorkerConfig& config, const Optimizations& optimizations,
                                    const Model& model);

// Values collect_all and in_time of switch aggregate: rounds that end in a weighted mean of the
// clients' whole states. collect_all adds them up once all are there; in_time adds each as soon as
// it is there, in the order of the clients' numbers, so that one upload is alive at a time and both
// end in the same bits.

/// References must outlive the result.
std::unique_ptr<Rounds> make_weighted_rounds(const WorkerConfig& config,
                                             const Optimizations& optimizations,
                                             const Model& model);

// What share of the average each client has.

/// @param weights equal or sample_size; @param sample_sizes of the clients that take part, none
/// negative. Shares in the clients' order, sum 1. Throws Error(cannot_measure) where no client has
/// samples to weigh by.
std::vector<double> shares_of(const std::string& weights,
                              const std::vector<std::int64_t>& sample_sizes);

}  // namespace memduel
