#include "workloads/optimizations/pseudo_gradient.h"

#include "workloads/optimizations/choice.h"

namespace memduel {
namespace {

class OutOfPlaceKept final : public PseudoGradient {
 public:
  [[nodiscard]] State compute(State& previous, const State& trained,
                              const std::unordered_set<std::string>& parameters) const override {
    const torch::NoGradGuard no_grad;
    State gradient;
    gradient.reserve(trained.size());
    for (std::size_t i = 0; i < trained.size(); ++i) {
      const auto& [name, tensor] = trained[i];
      gradient.push_back({name, parameters.contains(name) ? previous[i].tensor - tensor : tensor});
    }
    return gradient;
  }
};

class InPlace final : public PseudoGradient {
 public:
  [[nodiscard]] State compute(State& previous, const State& trained,
                              const std::unordered_set<std::string>& parameters) const override {
    const torch::NoGradGuard no_grad;
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

using Make = std::unique_ptr<PseudoGradient> (*)();
constexpr Choice<Make> kChoices[] = {
    {"out_of_place_kept",
     [] { return std::unique_ptr<PseudoGradient>(std::make_unique<OutOfPlaceKept>()); }},
    {"in_place", [] { return std::unique_ptr<PseudoGradient>(std::make_unique<InPlace>()); }}};

}  // namespace

std::unique_ptr<PseudoGradient> make_pseudo_gradient(const std::string& value) {
  return choose("pseudo_gradient", kChoices, value)();
}
std::vector<std::string> pseudo_gradient_values() {
  return values_of(kChoices);
}

}  // namespace memduel
