#include "fl/state_lifetimes.h"

#include <fmt/format.h>

#include <limits>

#include "fl/worker_config.h"
#include "memduel/memory_torch.h"
#include "util/error.h"

namespace memduel {
namespace {

/// copy.deepcopy of a state_dict: new storage for every tensor, filled from the old.
class DeepCopy final : public StateSnapshot {
 public:
  [[nodiscard]] State take(const State& live) const override {
    const torch::NoGradGuard no_grad;
    State copy;
    copy.reserve(live.size());
    for (const auto& [name, tensor] : live)
      copy.push_back(
          {name, torch::empty_like(tensor, at::MemoryFormat::Contiguous).copy_(tensor.detach())});
    return copy;
  }
};

/// clone().detach() tensor by tensor.
class CloneDetach final : public StateSnapshot {
 public:
  [[nodiscard]] State take(const State& live) const override {
    const torch::NoGradGuard no_grad;
    State copy;
    copy.reserve(live.size());
    for (const auto& [name, tensor] : live) copy.push_back({name, tensor.clone().detach()});
    return copy;
  }
};

class Reference final : public StateSnapshot {
 public:
  [[nodiscard]] State take(const State& live) const override {
    State references;
    references.reserve(live.size());
    for (const auto& [name, tensor] : live) references.push_back({name, tensor.detach()});
    return references;
  }
};

using MakeStateSnapshot = std::unique_ptr<StateSnapshot> (*)();

template <class Snapshot>
std::unique_ptr<StateSnapshot> make() {
  return std::make_unique<Snapshot>();
}

constexpr Choice<MakeStateSnapshot> kSnapshots[] = {{"deep_copy", make<DeepCopy>},
                                                    {"clone_detach", make<CloneDetach>}};
constexpr Choice<MakeStateSnapshot> kUploads[] = {{"deep_copy", make<DeepCopy>},
                                                  {"clone_detach", make<CloneDetach>},
                                                  {"reference", make<Reference>}};

}  // namespace

std::unique_ptr<StateSnapshot> make_state_snapshot(const std::string& value) {
  return choose("state_snapshot", kSnapshots, value)();
}

std::unique_ptr<StateSnapshot> make_upload_state(const std::string& value) {
  return choose("upload_state", kUploads, value)();
}

namespace {

/// Integers are averaged as values (aggregation.h): their differences would be taken for such.
void expect_differences_make_sense(const State& state,
                                   const std::unordered_set<std::string>& parameters) {
  for (const auto& [name, tensor] : state)
    if (parameters.contains(name) && !tensor.is_floating_point())
      throw Error(ExitCode::cannot_measure,
                  fmt::format("tensor {} contains integers ({}), whose differences cannot be sent",
                              name, torch::toString(tensor.scalar_type())),
                  {}, "send weights, or make the tensor a buffer, which keeps its value");
}

class DifferenceKept final : public PseudoGradient {
 public:
  [[nodiscard]] State compute(State& previous, const State& trained,
                              const std::unordered_set<std::string>& parameters) const override {
    const torch::NoGradGuard no_grad;
    expect_differences_make_sense(trained, parameters);
    State gradient;
    gradient.reserve(trained.size());
    for (std::size_t i = 0; i < trained.size(); ++i) {
      const auto& [name, tensor] = trained[i];
      gradient.push_back({name, parameters.contains(name) ? previous[i].tensor - tensor : tensor});
    }
    return gradient;
  }
};

class DifferenceInPlace final : public PseudoGradient {
 public:
  [[nodiscard]] State compute(State& previous, const State& trained,
                              const std::unordered_set<std::string>& parameters) const override {
    const torch::NoGradGuard no_grad;
    expect_differences_make_sense(trained, parameters);
    for (std::size_t i = 0; i < trained.size(); ++i) {
      const auto& [name, tensor] = trained[i];
      if (parameters.contains(name))
        previous[i].tensor.sub_(tensor);
      else
        previous[i].tensor = tensor;
    }
    return std::move(previous);
  }
};

using MakePseudoGradient = std::unique_ptr<PseudoGradient> (*)();
constexpr Choice<MakePseudoGradient> kPseudoGradientChoices[] = {
    {"out_of_place_kept",
     [] { return std::unique_ptr<PseudoGradient>(std::make_unique<DifferenceKept>()); }},
    {"in_place",
     [] { return std::unique_ptr<PseudoGradient>(std::make_unique<DifferenceInPlace>()); }}};

}  // namespace

std::unique_ptr<PseudoGradient> make_pseudo_gradient(const std::string& value) {
  return choose("pseudo_gradient", kPseudoGradientChoices, value)();
}

namespace {

constexpr Choice<RequestLifetime> kRequestLifetime[] = {
    {"kept_until_barrier", RequestLifetime::kept_until_barrier},
    {"released", RequestLifetime::released}};
constexpr Choice<LocalModels> kLocalModels[] = {
    {"kept_until_done", LocalModels::kept_until_done},
    {"kept_until_next_round", LocalModels::kept_until_next_round},
    {"cleared_first", LocalModels::cleared_first}};
constexpr Choice<PreviousState> kPreviousState[] = {
    {"kept", PreviousState::kept},
    {"dropped_after_gradient", PreviousState::dropped_after_gradient}};
constexpr Choice<ClientLocals> kClientLocals[] = {
    {"kept", ClientLocals::kept},
    {"kept_until_next_receive", ClientLocals::kept_until_next_receive},
    {"released_on_send", ClientLocals::released_on_send},
    {"released", ClientLocals::released}};
constexpr Choice<OptimizerState> kOptimizerState[] = {
    {"new_each_round", OptimizerState::new_each_round}, {"reused", OptimizerState::reused}};
constexpr Choice<FlowControl> kFlowControl[] = {{"default", FlowControl::default_window},
                                                {"bounded", FlowControl::bounded}};
constexpr Choice<Cleanup> kCleanup[] = {{"none", Cleanup::none}, {"trim", Cleanup::trim}};

}  // namespace

CleanupReport clean_up(Cleanup cleanup) {
  return cleanup == Cleanup::trim ? cleanup_memory({.device = &torch_cuda()}) : CleanupReport{};
}

namespace {

using MakeGarbage = std::unique_ptr<Garbage> (*)();

template <Cycle... held>
std::unique_ptr<Garbage> make_holding() {
  return std::make_unique<Garbage>(std::set<Cycle>{held...});
}

constexpr Choice<MakeGarbage> kGarbage[] = {
    {"none", make_holding<>},
    {"until_collected", make_holding<Cycle::exchanged, Cycle::mean>},
    {"serialized_until_collected", make_holding<Cycle::serialized, Cycle::mean>}};
constexpr Choice<CudaCache> kCudaCache[] = {{"off", CudaCache::kept}, {"on", CudaCache::emptied}};

}  // namespace

std::unique_ptr<Garbage> make_garbage(const std::string& value) {
  return choose("cyclic_garbage", kGarbage, value)();
}

void Garbage::hold(Cycle cycle, std::shared_ptr<const void> object) {
  if (!held_in_.contains(cycle)) return;
  const std::lock_guard lock(mutex_);
  objects_.push_back(std::move(object));
}

void Garbage::hold(Cycle cycle, const State& state) {
  if (held_in_.contains(cycle)) hold(cycle, std::make_shared<const State>(state));
}

void Garbage::drop() {
  const std::lock_guard lock(mutex_);
  objects_.clear();
}

CleanupOptions collection(Garbage& garbage, CudaCache cuda_cache) {
  CleanupOptions options;
  options.drop = [&garbage] { garbage.drop(); };
  if (cuda_cache == CudaCache::emptied) options.device = &torch_cuda();
  return options;
}

std::optional<int> choose_arenas(const char* switch_name, const char* absent,
                                 const nlohmann::json& value) {
  if (value == absent) return std::nullopt;
  if (!value.is_number_integer() || value.get<std::int64_t>() < 1 ||
      value.get<std::int64_t>() > std::numeric_limits<int>::max())
    throw Error(
        ExitCode::usage,
        fmt::format("expected \"{}\" or a whole number from 1, found {}", absent, value.dump()),
        fmt::format("switches.{}", switch_name));
  return value.get<int>();
}

void choose_lifetimes(StateLifetimes& chosen, SwitchFields& fields) {
  const auto arenas = [&](const char* name, const char* absent) {
    return choose_arenas(name, absent, fields.get<nlohmann::json>(name));
  };
  chosen.state_snapshot = choose(fields, "state_snapshot", kSnapshots)();
  chosen.upload_state = choose(fields, "upload_state", kUploads)();
  chosen.pseudo_gradient = choose(fields, "pseudo_gradient", kPseudoGradientChoices)();
  chosen.request_lifetime = choose(fields, "request_lifetime", kRequestLifetime);
  chosen.local_models = choose(fields, "local_models", kLocalModels);
  chosen.previous_state = choose(fields, "previous_state", kPreviousState);
  chosen.client_locals = choose(fields, "client_locals", kClientLocals);
  chosen.optimizer_state = choose(fields, "optimizer_state", kOptimizerState);
  chosen.flow_control = choose(fields, "flow_control", kFlowControl);
  chosen.cleanup = choose(fields, "cleanup", kCleanup);
  chosen.arenas = arenas("arenas", "default");
  chosen.client_arenas = arenas("client_arenas", "as_server");
  chosen.server_gc_rounds = choose_whole_number(fields, "server_gc_rounds", 0, kMostRounds);
  chosen.client_gc_rounds = choose_whole_number(fields, "client_gc_rounds", 0, kMostRounds);
  chosen.cuda_cache = choose(fields, "cuda_empty_cache", kCudaCache);
  chosen.garbage = choose(fields, "cyclic_garbage", kGarbage)();
}

}  // namespace memduel
