#include "workloads/optimizations/aggregate.h"

#include <unordered_map>

#include "workloads/optimizations/choice.h"

namespace memduel {
namespace {

/// The global state as the aggregator holds it: each entry from when clients first sent it.
class GlobalEntries {
 public:
  /// @param hold makes the held tensor of an entry from the model's.
  GlobalEntries(const Model& model, at::Tensor (*hold)(const at::Tensor&))
      : model_(model), hold_(hold) {}

  /// The entries that were sent, in that order, aliasing the held ones.
  State like(const State& sent) {
    State entries;
    entries.reserve(sent.size());
    for (const NamedTensor& entry : sent) {
      const auto [found, first_time] = held_.try_emplace(entry.name);
      if (first_time) found->second = hold_(find_tensor(model_.state, entry.name).detach());
      entries.push_back({entry.name, found->second});
    }
    return entries;
  }

  void replace(const State& entries) {
    for (const auto& [name, tensor] : entries) held_[name] = tensor;
  }

 private:
  const Model& model_;
  at::Tensor (*hold_)(const at::Tensor&);
  std::unordered_map<std::string, at::Tensor> held_;
};

/// A client's tensor where the global one is: what arrived on the CPU goes to the device one tensor
/// at a time.
at::Tensor local_tensor(const Contribution& one, const NamedTensor& global) {
  return find_tensor(*one.state, global.name).to(global.tensor.device());
}

at::Tensor mean_over_clients(const std::vector<Contribution>& contributions,
                             const NamedTensor& entry) {
  at::Tensor sum = torch::zeros_like(entry.tensor);
  for (const Contribution& one : contributions) sum.add_(local_tensor(one, entry));
  return sum.div(divisor_for(sum, static_cast<double>(contributions.size())))
      .to(entry.tensor.scalar_type());
}

/// Adds one client's share to the step. `difference` and `weighted` are temporaries as Python's
/// weight * (local - global) makes them.
void add_to_step(at::Tensor& step, const Contribution& one, const NamedTensor& global,
                 UploadKind upload) {
  const at::Tensor local = local_tensor(one, global);
  if (upload == UploadKind::difference) {
    step.sub_(local * one.weight);
    return;
  }
  const at::Tensor difference = local - global.tensor;
  const at::Tensor weighted = difference * one.weight;
  step.add_(weighted);
}

State clone_state(const State& state) {
  State clone;
  clone.reserve(state.size());
  for (const auto& [name, tensor] : state) clone.push_back({name, tensor.clone()});
  return clone;
}

/// Zeros for every stepped entry, undefined tensors for the others.
std::vector<at::Tensor> zero_steps(const Model& model, const State& global) {
  std::vector<at::Tensor> steps;
  steps.reserve(global.size());
  for (const NamedTensor& entry : global)
    steps.push_back(is_stepped(model, entry) ? torch::zeros_like(entry.tensor) : at::Tensor());
  return steps;
}

void add_all_to_steps(std::vector<at::Tensor>& steps,
                      const std::vector<Contribution>& contributions, const State& global,
                      UploadKind upload) {
  for (const Contribution& one : contributions)
    for (std::size_t i = 0; i < global.size(); ++i)
      if (steps[i].defined()) add_to_step(steps[i], one, global[i], upload);
}

class OutOfPlaceKeptStep final : public Aggregator {
 public:
  OutOfPlaceKeptStep(const Model& model, UploadKind upload)
      : model_(model),
        upload_(upload),
        global_(model, [](const at::Tensor& of_model) { return of_model; }) {}

  State aggregate(const std::vector<Contribution>& contributions) override {
    const torch::NoGradGuard no_grad;
    State global = global_.like(*contributions.front().state);
    step_ = zero_steps(model_, global);
    add_all_to_steps(step_, contributions, global, upload_);
    for (std::size_t i = 0; i < global.size(); ++i)
      global[i].tensor = step_[i].defined() ? global[i].tensor + step_[i]
                                            : mean_over_clients(contributions, global[i]);
    global_.replace(global);
    copy_state(global, model_.state);
    return clone_state(global);
  }

 private:
  const Model& model_;
  UploadKind upload_;
  GlobalEntries global_;  ///< alias the model in the first round, their own tensors afterwards
  std::vector<at::Tensor> step_;
};

class InPlace final : public Aggregator {
 public:
  InPlace(const Model& model, UploadKind upload)
      : model_(model),
        upload_(upload),
        global_(model, [](const at::Tensor& of_model) { return of_model.clone(); }) {}

  State aggregate(const std::vector<Contribution>& contributions) override {
    const torch::NoGradGuard no_grad;
    const State global = global_.like(*contributions.front().state);
    std::vector<at::Tensor> step = zero_steps(model_, global);
    add_all_to_steps(step, contributions, global, upload_);
    for (std::size_t i = 0; i < global.size(); ++i) {
      if (step[i].defined())
        global[i].tensor.add_(step[i]);
      else
        global[i].tensor.copy_(mean_over_clients(contributions, global[i]));
    }
    step.clear();
    copy_state(global, model_.state);
    return clone_state(global);
  }

 private:
  const Model& model_;
  UploadKind upload_;
  GlobalEntries global_;
};

using MakeAggregator = std::unique_ptr<Aggregator> (*)(const Model&, UploadKind);

template <class Kind>
std::unique_ptr<Aggregator> make(const Model& model, UploadKind upload) {
  return std::make_unique<Kind>(model, upload);
}

constexpr Choice<MakeAggregator> kAggregateChoices[] = {
    {"out_of_place_kept_step", make<OutOfPlaceKeptStep>}, {"in_place", make<InPlace>}};

}  // namespace

bool is_stepped(const Model& model, const NamedTensor& entry) {
  return model.parameters.contains(entry.name) && entry.tensor.is_floating_point();
}

std::unique_ptr<Aggregator> make_aggregator(const std::string& value, const Model& model,
                                            UploadKind upload) {
  return choose("aggregate", kAggregateChoices, value)(model, upload);
}
std::vector<std::string> aggregate_values() {
  return values_of(kAggregateChoices);
}

}  // namespace memduel
