#include "workloads/graph_training/graph_attention.h"

#include <limits>

#include "workloads/models/gradient_checkpoint.h"

namespace memduel {
namespace {

constexpr double kNegativeSlope = 0.2;
/// What PyTorch Geometric adds to a softmax's divisor.
constexpr double kTiny = 1e-16;

/// [links, heads]: for every target and head, numbers that add up to 1.
torch::Tensor softmax_over_sources(const torch::Tensor& scores, const Links& links) {
  const std::vector<std::int64_t> shape = {links.nodes, scores.size(1)};
  torch::Tensor exponents;
  {
    const torch::NoGradGuard no_grad;
    exponents = torch::full(shape, -std::numeric_limits<double>::infinity(), scores.options())
                    .scatter_reduce(0, links.targets.unsqueeze(1).expand_as(scores), scores, "amax")
                    .index_select(0, links.targets);
  }
  const torch::Tensor powers = (scores - exponents).exp();
  const torch::Tensor sums =
      torch::zeros(shape, powers.options()).index_add(0, links.targets, powers);
  return powers / (sums.index_select(0, links.targets) + kTiny);
}

}  // namespace

GraphAttentionImpl::GraphAttentionImpl(std::int64_t in, std::int64_t per_head, std::int64_t heads)
    : per_head_(per_head),
      heads_(heads),
      project_(register_module(
          "project",
          torch::nn::Linear(torch::nn::LinearOptions(in, per_head * heads).bias(false)))),
      of_source_(register_parameter("of_source", torch::empty({heads, per_head}))),
      of_target_(register_parameter("of_target", torch::empty({heads, per_head}))),
      bias_(register_parameter("bias", torch::zeros({heads * per_head}))) {
  for (const torch::Tensor& weights : {project_->weight, of_source_, of_target_})
    torch::nn::init::xavier_uniform_(weights);
}

torch::Tensor GraphAttentionImpl::forward(const torch::Tensor& nodes, const Links& links) {
  const torch::Tensor values = project_(nodes).view({-1, heads_, per_head_});
  const torch::Tensor by_source = (values * of_source_).sum(-1);
  const torch::Tensor by_target = (values * of_target_).sum(-1);
  const torch::Tensor scores = torch::leaky_relu(
      by_source.index_select(0, links.sources) + by_target.index_select(0, links.targets),
      kNegativeSlope);
  const torch::Tensor shares = softmax_over_sources(scores, links);
  const torch::Tensor messages =
      values.index_select(0, links.sources) * shares.unsqueeze(-1);  // [links, heads, per_head]
  return torch::zeros({links.nodes, heads_ * per_head_}, messages.options())
             .index_add(0, links.targets, messages.flatten(1)) +
         bias_;
}

torch::Tensor GraphAttentionImpl::forward(const torch::Tensor& nodes, const Links& links,
                                          Activations activations) {
  if (activations == Activations::kept) return forward(nodes, links);
  return checkpointed([this, links](const torch::Tensor& input) { return forward(input, links); },
                      nodes, parameters());
}

}  // namespace memduel
