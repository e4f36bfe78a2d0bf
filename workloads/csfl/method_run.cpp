#include "workloads/simulation/selection.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "base/error.h"

namespace memduel {
namespace {

class RandomSelection final : public Selection {
 public:
  explicit RandomSelection(const SelectionOptions& options)
      : options_(options), engine_(options.seed) {}

  std::vector<std::size_t> next() override {
    std::vector<std::size_t> order = random_order(options_.clients, engine_);
    order.resize(options_.per_round);
    return order;
  }

 private:
  SelectionOptions options_;
  RandomEngine engine_;
};

class HighestLoss final : public Selection {
 public:
  explicit HighestLoss(const SelectionOptions& options)
      : per_round_(options.per_round),
        losses_(options.clients, std::numeric_limits<double>::infinity()) {}

  std::vector<std::size_t> next() override {
    std::vector<std::size_t> order(losses_.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::stable_sort(order,
                             [&](std::size_t a, std::size_t b) { return losses_[a] > losses_[b]; });
    order.resize(per_round_);
    return order;
  }
  void observe(std::size_t client, double loss) override { losses_[client] = loss; }

 private:
  std::size_t per_round_;
  std::vector<double> losses_;
};

class RoundRobin final : public Selection {
 public:
  explicit RoundRobin(const SelectionOptions& options) : options_(options) {}

  std::vector<std::size_t> next() override {
    std::vector<std::size_t> chosen;
    for (std::size_t i = 0; i < options_.per_round; ++i)
      chosen.push_back((first_ + i) % options_.clients);
    first_ = (first_ + options_.per_round) % options_.clients;
    return chosen;
  }

 private:
  SelectionOptions options_;
  std::size_t first_ = 0;
};

struct SelectionMethod {
  const char* name;
  std::unique_ptr<Selection> (*make)(const SelectionOptions&);
};

template <class Kind>
std::unique_ptr<Selection> make_method(const SelectionOptions& options) {
  return std::make_unique<Kind>(options);
}

constexpr SelectionMethod kSelectionMethods[] = {{"random", make_method<RandomSelection>},
                                                 {"highest_loss", make_method<HighestLoss>},
                                                 {"round_robin", make_method<RoundRobin>}};

}  // namespace

std::unique_ptr<Selection> make_selection(const std::string& method,
                                          const SelectionOptions& options) {
  if (options.per_round < 1 || options.per_round > options.clients)
    throw Error(ExitCode::usage,
                fmt::format("found {}, expected 1 to {}, the clients that there are",
                            options.per_round, options.clients),
                "workload.clients_per_round");
  for (const SelectionMethod& known : kSelectionMethods)
    if (known.name == method) return known.make(options);
  throw Error(
      ExitCode::usage,
      fmt::format("found \"{}\", expected {}", method, fmt::join(selection_methods(), ", ")),
      "workload.methods");
}

std::vector<std::string> selection_methods() {
  std::vector<std::string> names;
  for (const SelectionMethod& known : kSelectionMethods) names.emplace_back(known.name);
  return names;
}

}  // namespace memduel
