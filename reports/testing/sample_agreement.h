// The server of the baseline under four tracers, with numbers that follow from a formula.
#pragma once

#include "base/tracer_agreement.h"

namespace memduel {

/// The recorder counts 100 MiB at the peak; heaptrack the same, massif 0.5 MiB less, which its 1 %
/// explain, gperftools has no peak, jemalloc's 30 MiB more of what was allocated are unexplained.
/// Of two stacks `odd_function` is in the second.
TracerAgreement sample_agreement(const std::string& arm, const std::string& odd_function);

}  // namespace memduel
