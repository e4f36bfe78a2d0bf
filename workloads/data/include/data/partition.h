// Who gets which image: the split into training and validation, and the clients' shares.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace memduel {

using Indices = std::vector<std::size_t>;

struct Split {
  Indices train;
  Indices validation;
};

/// A seeded random split of 0 … count-1 into two disjoint parts, the first of `train_count`.
/// Throws Error(usage) when `train_count` exceeds `count`.
Split split_train_validation(std::size_t count, std::size_t train_count, std::uint64_t seed);

enum class PartitionKind {
  iid,           ///< every client an equal random share
  class_noniid,  ///< every client some of the classes, as APPFL's class_noniid_partition
  dirichlet,     ///< every class shared out by a Dirichlet(alpha) draw over the clients
};

struct PartitionOptions {
  PartitionKind kind = PartitionKind::iid;
  std::size_t clients = 1;
  std::uint64_t seed = 1;
  double dirichlet_alpha = 0.5;
};

/// Disjoint shares of 0 … labels.size()-1, one per client, covering every sample; the shares of
/// iid differ by at most one. Throws Error(usage) without clients, and when a client would get
/// nothing.
std::vector<Indices> partition(std::span<const std::uint8_t> labels,
                               const PartitionOptions& options);

}  // namespace memduel
