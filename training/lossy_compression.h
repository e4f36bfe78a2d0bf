// What a lossily compressed message may change: the numbers of APPFL's own configurations, which
// switch compression keeps to and import-appfl asks for.
#pragma once

#include <cstdint>

namespace memduel {

/// error_bound under REL: of the range of a tensor's values, largest minus smallest.
inline constexpr double kRelativeErrorBound = 1e-3;
/// param_cutoff: tensors of up to so many elements stay lossless.
inline constexpr std::int64_t kParameterCutoff = 1024;

}  // namespace memduel
