// Switches that decide which copies of a model's state there are, how long each lives, and what
// becomes of freed memory: state_snapshot and upload_state (copies before and after the training of
// a round), pseudo_gradient (previous - new), lifetimes, NVFlare's garbage collection, arenas.
//
// C++ lets go of a state with its last name; what Python keeps in reference cycles until its
// collector runs is a model here: objects on a list, dropped at the collect point.
#pragma once

#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <unordered_set>
#include <vector>

#include "fl/models.h"
#include "memduel/memory.h"

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

/// request_lifetime: what a server handler keeps of a request until its answer is sent.
enum class RequestLifetime { kept_until_barrier, released };
/// local_models: when the server drops the clients' states: after it answers, once the next round's
/// are there, or before it answers.
enum class LocalModels { kept_until_done, kept_until_next_round, cleared_first };
/// previous_state: the client's copy from before training, in rounds that send differences.
enum class PreviousState { kept, dropped_after_gradient };
/// client_locals: when the client lets go of the states that it received and sent. kept: as
/// APPFL's script, the first one never, the others when they are replaced. kept_until_next_receive
/// and released_on_send: as NVFlare's client, without and with clear_cache. released: after their
/// last use.
enum class ClientLocals { kept, kept_until_next_receive, released_on_send, released };
/// optimizer_state: a new optimizer each round, or one for the run.
enum class OptimizerState { new_each_round, reused };
/// flow_control: gRPC's window growth.
enum class FlowControl { default_window, bounded };
/// cleanup: whether freed memory is handed back at the end of a round.
enum class Cleanup { none, trim };

/// Under Cleanup::trim: cleanup_memory of memduel/memory.h, with what LibTorch caches on a GPU.
/// Otherwise nothing, which takes no time.
CleanupReport clean_up(Cleanup cleanup);

/// What a reference cycle may hold: a state that was received or sent, a mean, the bytes that a
/// state was serialized to.
enum class Cycle { exchanged, mean, serialized };

/// Objects that nothing but a reference cycle holds.
class Garbage {
 public:
  /// @param held_in the cycles that there are.
  explicit Garbage(std::set<Cycle> held_in) : held_in_(std::move(held_in)) {}

  /// Keeps the object until drop(), if there is such a cycle. From any thread.
  void hold(Cycle cycle, std::shared_ptr<const void> object);
  void hold(Cycle cycle, const State& state);
  /// Lets go of all that is held.
  void drop();

 private:
  const std::set<Cycle> held_in_;
  std::mutex mutex_;
  std::vector<std::shared_ptr<const void>> objects_;
};

/// @param value none: nothing is held, as C++ has it; until_collected: states and means;
/// serialized_until_collected: means, and what was serialized to be sent.
std::unique_ptr<Garbage> make_garbage(const std::string& value);

/// cuda_empty_cache: whether a collect point hands LibTorch's cached GPU memory back.
enum class CudaCache { kept, emptied };

/// What a collect point does: drops what is held, then gives freed memory back as the process's
/// allocator allows. The garbage must outlive the result.
CleanupOptions collection(Garbage& garbage, CudaCache cuda_cache);

/// `absent` as absent, else what memduel/memory.h's limit_arenas takes. Throws Error(usage) naming
/// the switch.
std::optional<int> choose_arenas(const char* switch_name, const char* absent,
                                 const nlohmann::json& value);

/// What the switches of this file chose.
struct StateLifetimes {
  std::unique_ptr<StateSnapshot> state_snapshot;
  std::unique_ptr<StateSnapshot> upload_state;
  std::unique_ptr<PseudoGradient> pseudo_gradient;
  RequestLifetime request_lifetime{};
  LocalModels local_models{};
  PreviousState previous_state{};
  ClientLocals client_locals{};
  OptimizerState optimizer_state{};
  FlowControl flow_control{};
  Cleanup cleanup{};
  std::optional<int> arenas;         ///< absent: glibc's own limit
  std::optional<int> client_arenas;  ///< absent: as `arenas` says
  int server_gc_rounds = 0;
  int client_gc_rounds = 0;
  CudaCache cuda_cache{};
  std::unique_ptr<Garbage> garbage;
};

class SwitchFields;

/// @param fields switch name to value. Throws Error(usage) naming a switch that is missing or has
/// an unknown value.
void choose_lifetimes(StateLifetimes& chosen, SwitchFields& fields);

}  // namespace memduel
