#include "workloads/optimizations/pseudo_gradient.h"

#include "base/error.h"
#include "workloads/optimizations/choice.h"

namespace memduel {
namespace {

/// Integers are averaged as values (aggregate.h): their differences would be taken for such.
void expect_differences_make_sense(const State& state,
                                   const std::unordered_set<std::string>& parameters) {
  for (const auto& [name, tensor] : state)
    if (parameters.contains(name) && !tensor.is_floating_point())
      throw Error(ExitCode::cannot_measure,
                  fmt::format("tensor {} holds integers ({}), of which no difference can be sent",
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

}  // namespace memduel
