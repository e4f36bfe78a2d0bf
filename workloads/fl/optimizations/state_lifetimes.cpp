#include "workloads/optimizations/state_snapshot.h"

#include "workloads/optimizations/choice.h"

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

}  // namespace memduel
