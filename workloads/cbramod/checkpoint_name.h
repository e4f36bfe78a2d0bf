// What a checkpoint's file name says: epoch and metrics.
//
// Two ways of writing are known, with the endings .pth, .pt and .ckpt:
//   epoch12_acc_0.84512_kappa_0.71234_f1_0.80000.pth     as CBraMod's fine-tuning writes them
//   epoch=12-step=3000-val_loss=0.31.ckpt                as PyTorch Lightning writes them, with
//   -v1,
//                                                        -v2, … at the end where a name was taken
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace memduel {

struct CheckpointName {
  std::int64_t epoch = 0;
  std::map<std::string, double> metrics;  ///< may hold values that are not finite

  friend bool operator==(const CheckpointName&, const CheckpointName&) = default;
};

/// Whether the name has a checkpoint's ending.
bool ends_as_checkpoint(std::string_view file_name);

/// Nothing when the whole name is not written in one of the two ways, or names a metric twice.
std::optional<CheckpointName> parse_checkpoint_name(std::string_view file_name);

/// In the first way, with five decimals and the metrics in the order of their names.
std::string make_checkpoint_name(const CheckpointName& name);

}  // namespace memduel
