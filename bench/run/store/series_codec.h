// One series as one blob of run.sqlite: a zstd frame around variable-length differences.
//
// Inside the frame, every number a LEB128 varint: the count of samples; then for each sample the
// zigzag-coded difference of its time to the one before (the first to 0); then the same for the
// values. Differences wrap around at 64 bits. Samples at a fixed interval with slowly changing
// values shrink to one or two bytes before zstd sees them; the price is that a series can only be
// read as a whole.
#pragma once

#include <string>
#include <string_view>

#include "model/run_data.h"

namespace memduel {

/// The blob of `series`; its metric name is kept elsewhere. Both vectors have the same length.
std::string encode_series(const Series& series);

/// The samples of a blob, without a metric name. Throws Error(io) for bytes that encode_series
/// cannot have written.
Series decode_series(std::string_view blob);

}  // namespace memduel
