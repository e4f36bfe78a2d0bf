#include "data/partition.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "data/random.h"
#include "util/error.h"

namespace memduel {
namespace {

/// The sample numbers of each class, in random order.
std::vector<Indices> by_class(std::span<const std::uint8_t> labels, RandomEngine& engine) {
  const std::size_t classes = *std::ranges::max_element(labels) + std::size_t{1};
  std::vector<Indices> samples(classes);
  for (const std::size_t i : random_order(labels.size(), engine)) samples[labels[i]].push_back(i);
  return samples;
}

/// Deals `samples` out to `holders` in consecutive stretches proportional to `weights`.
void deal(const Indices& samples, const Indices& holders, const std::vector<double>& weights,
          std::vector<Indices>& shares) {
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  double passed = 0;
  std::size_t begin = 0;
  for (std::size_t h = 0; h < holders.size(); ++h) {
    passed += weights[h];
    const bool last = h + 1 == holders.size();
    const auto end =
        last ? samples.size()
             : static_cast<std::size_t>(static_cast<double>(samples.size()) * passed / total);
    Indices& share = shares[holders[h]];
    share.insert(share.end(), samples.begin() + static_cast<std::ptrdiff_t>(begin),
                 samples.begin() + static_cast<std::ptrdiff_t>(end));
    begin = end;
  }
}

std::vector<Indices> iid(std::size_t count, std::size_t clients, RandomEngine& engine) {
  std::vector<Indices> shares(clients);
  const Indices order = random_order(count, engine);
  for (std::size_t i = 0; i < count; ++i) shares[i * clients / count].push_back(order[i]);
  return shares;
}

/// For each class the clients that hold it. The number of classes per client lies in APPFL's range
/// for that many clients; drawn again until every class has a holder.
std::vector<Indices> draw_holders(std::size_t classes, std::size_t clients, RandomEngine& engine) {
  constexpr std::array<std::size_t, 9> kFewest = {10, 7, 6, 5, 5, 4, 4, 4, 3};
  constexpr std::array<std::size_t, 9> kMost = {10, 8, 8, 7, 6, 6, 6, 5, 5};
  const std::size_t fewest = std::min(clients <= 9 ? kFewest[clients - 1] : 3, classes);
  const std::size_t most = std::min(clients <= 9 ? kMost[clients - 1] : 5, classes);
  std::vector<Indices> holders;
  do {
    holders.assign(classes, {});
    for (std::size_t client = 0; client < clients; ++client) {
      const std::size_t held = fewest + uniform_below(engine, most - fewest + 1);
      const Indices order = random_order(classes, engine);
      for (std::size_t i = 0; i < held; ++i) holders[order[i]].push_back(client);
    }
  } while (std::ranges::any_of(holders, [](auto& h) { return h.empty(); }));
  return holders;
}

std::vector<Indices> class_noniid(std::span<const std::uint8_t> labels, std::size_t clients,
                                  RandomEngine& engine) {
  std::vector<Indices> shares(clients);
  const std::vector<Indices> samples = by_class(labels, engine);
  const std::vector<Indices> holders = draw_holders(samples.size(), clients, engine);
  for (std::size_t c = 0; c < samples.size(); ++c) {
    std::vector<double> weights(holders[c].size());
    for (double& weight : weights) weight = 0.5 + uniform_unit(engine);
    deal(samples[c], holders[c], weights, shares);
  }
  return shares;
}

/// One Gamma(shape, 1) number (Marsaglia and Tsang 2000; shapes below 1 through shape + 1).
double gamma_draw(double shape, RandomEngine& engine) {
  if (shape < 1)
    return gamma_draw(shape + 1, engine) * std::pow(1 - uniform_unit(engine), 1 / shape);
  const double d = shape - 1.0 / 3.0;
  const double c = 1 / std::sqrt(9 * d);
  for (;;) {
    const double x = standard_normal(engine);
    const double v = std::pow(1 + c * x, 3);
    if (v > 0 && std::log1p(-uniform_unit(engine)) < 0.5 * x * x + d - d * v + d * std::log(v))
      return d * v;
  }
}

std::vector<Indices> dirichlet(std::span<const std::uint8_t> labels, std::size_t clients,
                               double alpha, RandomEngine& engine) {
  std::vector<Indices> shares(clients);
  Indices everyone(clients);
  std::iota(everyone.begin(), everyone.end(), std::size_t{0});
  for (const Indices& samples : by_class(labels, engine)) {
    std::vector<double> weights(clients);
    for (double& weight : weights) weight = gamma_draw(alpha, engine);
    deal(samples, everyone, weights, shares);
  }
  return shares;
}

}  // namespace

Split split_train_validation(std::size_t count, std::size_t train_count, std::uint64_t seed) {
  if (train_count > count)
    throw Error(ExitCode::usage,
                fmt::format("cannot take {} training samples of {}", train_count, count));
  RandomEngine engine(seed);
  const Indices order = random_order(count, engine);
  const auto middle = order.begin() + static_cast<std::ptrdiff_t>(train_count);
  return {Indices(order.begin(), middle), Indices(middle, order.end())};
}

std::vector<Indices> partition(std::span<const std::uint8_t> labels,
                               const PartitionOptions& options) {
  if (options.clients == 0) throw Error(ExitCode::usage, "a partition needs at least one client");
  if (labels.size() < options.clients)
    throw Error(ExitCode::usage, fmt::format("cannot divide {} samples among {} clients",
                                             labels.size(), options.clients));
  RandomEngine engine(options.seed);
  std::vector<Indices> shares;
  switch (options.kind) {
    case PartitionKind::iid:
      shares = iid(labels.size(), options.clients, engine);
      break;
    case PartitionKind::class_noniid:
      shares = class_noniid(labels, options.clients, engine);
      break;
    case PartitionKind::dirichlet:
      shares = dirichlet(labels, options.clients, options.dirichlet_alpha, engine);
      break;
  }
  for (std::size_t client = 0; client < shares.size(); ++client)
    if (shares[client].empty())
      throw Error(ExitCode::usage,
                  fmt::format("the partition leaves client-{} without samples", client + 1), {},
                  "use another seed, more samples or partition iid");
  return shares;
}

}  // namespace memduel
