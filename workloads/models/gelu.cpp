#include "workloads/models/gelu.h"

namespace memduel {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

class Gelu : public torch::autograd::Function<Gelu> {
 public:
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& x) {
    context->save_for_backward({x});
    return at::gelu(x);
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    return {
        at::gelu_backward(gradients.front().contiguous(), context->get_saved_variables().front())};
  }
};

}  // namespace

torch::Tensor exact_gelu(const torch::Tensor& x) {
  return Gelu::apply(x.contiguous());
}

}  // namespace memduel
