#include "workloads/optimizations/aggregate.h"

#include "workloads/optimizations/choice.h"

namespace memduel {
namespace {

/// The model's own tensors for the entries that the clients sent.
State matching_entries(const Model& model, const State& sent) {
  State entries;
  entries.reserve(sent.size());
  for (const NamedTensor& entry : sent)
    entries.push_back({entry.name, find_tensor(model.state, entry.name).detach()});
  return entries;
}

at::Tensor mean_over_clients(const std::vector<Contribution>& contributions,
                             const NamedTensor& entry) {
  at::Tensor sum = torch::zeros_like(entry.tensor);
  for (const Contribution& one : contributions) sum.add_(find_tensor(*one.state, entry.name));
  return sum.div(static_cast<std::int64_t>(contributions.size())).to(entry.tensor.scalar_type());
}

/// Adds one client's share to the step. `difference` and `weighted` are temporaries as Python's
/// weight * (local - global) makes them.
void add_to_step(at::Tensor& step, const Contribution& one, const NamedTensor& global,
                 UploadKind upload) {
  const at::Tensor& local = find_tensor(*one.state, global.name);
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
  OutOfPlaceKeptStep(const Model& model, UploadKind upload) : model_(model), upload_(upload) {}

  State aggregate(const std::vector<Contribution>& contributions) override {
    const torch::NoGradGuard no_grad;
    if (global_.size() != contributions.front().state->size())
      global_ = matching_entries(model_, *contributions.front().state);
    step_ = zero_steps(model_, global_);
    add_all_to_steps(step_, contributions, global_, upload_);
    for (std::size_t i = 0; i < global_.size(); ++i)
      global_[i].tensor = step_[i].defined() ? global_[i].tensor + step_[i]
                                             : mean_over_clients(contributions, global_[i]);
    copy_state(global_, model_.state);
    return clone_state(global_);
  }

 private:
  const Model& model_;
  UploadKind upload_;
  State global_;  ///< aliases the model in the first round, its own tensors afterwards
  std::vector<at::Tensor> step_;
};

class InPlace final : public Aggregator {
 public:
  InPlace(const Model& model, UploadKind upload) : model_(model), upload_(upload) {}

  State aggregate(const std::vector<Contribution>& contributions) override {
    const torch::NoGradGuard no_grad;
    if (global_.size() != contributions.front().state->size())
      global_ = clone_state(matching_entries(model_, *contributions.front().state));
    std::vector<at::Tensor> step = zero_steps(model_, global_);
    add_all_to_steps(step, contributions, global_, upload_);
    for (std::size_t i = 0; i < global_.size(); ++i) {
      if (step[i].defined())
        global_[i].tensor.add_(step[i]);
      else
        global_[i].tensor.copy_(mean_over_clients(contributions, global_[i]));
    }
    step.clear();
    copy_state(global_, model_.state);
    return clone_state(global_);
  }

 private:
  const Model& model_;
  UploadKind upload_;
  State global_;
};

using Make = std::unique_ptr<Aggregator> (*)(const Model&, UploadKind);

template <class Kind>
std::unique_ptr<Aggregator> make(const Model& model, UploadKind upload) {
  return std::make_unique<Kind>(model, upload);
}

constexpr Choice<Make> kChoices[] = {{"out_of_place_kept_step", make<OutOfPlaceKeptStep>},
                                     {"in_place", make<InPlace>}};

}  // namespace

bool is_stepped(const Model& model, const NamedTensor& entry) {
  return model.parameters.contains(entry.name) && entry.tensor.is_floating_point();
}

std::unique_ptr<Aggregator> make_aggregator(const std::string& value, const Model& model,
                                            UploadKind upload) {
  return choose("aggregate", kChoices, value)(model, upload);
}
std::vector<std::string> aggregate_values() {
  return values_of(kChoices);
}

}  // namespace memduel
