// When to sample: a Poisson process over requested bytes.
#pragma once

#include <cstdint>

#include "thread_state.h"

namespace memduel::recorder {

/// Requested bytes up to the next sample, drawn from the exponential distribution with the mean
/// that is due; a very large number when nothing is sampled. Memoryless: a block of Z bytes is
/// sampled with probability 1 - exp(-Z / mean), whatever came before it. The mean stays in
/// tls.interval.
std::int64_t draw_interval() MEMDUEL_HIDDEN;

/// Counts a sample. After each kSamplesAnInterval the mean doubles, from the settings' first one
/// up to their last: a small program gives hundreds of samples, a large one does not pay for them.
void count_sample() MEMDUEL_HIDDEN;
inline constexpr std::uint64_t kSamplesAnInterval = 512;

/// In a forked child, which may be small.
void restart_sampling() MEMDUEL_HIDDEN;

/// Gives the thread its own sequence.
void seed_thread(std::uint64_t seed, std::uint32_t thread) MEMDUEL_HIDDEN;

/// -ln(u) for u in (0, 1], without libm, to about 1e-9 relative.
double negative_log(double u) MEMDUEL_HIDDEN;

}  // namespace memduel::recorder
