// Traffic of a car that never was, for more graphs than a recording gives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "workloads/graphs/can_frame.h"

namespace memduel {

/// `count` frames in order of time from `start_us`, of 34 identifiers that each send with a period
/// of 10 ms to 1 s, 2 % of jitter and a fixed length: as many identifiers, frames a second and
/// lengths as in a recorded drive. A byte is constant, counts, wanders like a sensor's value, or is
/// random. The identifiers, periods and lengths are always the same; the seed decides the rest.
std::vector<CanFrame> generate_traffic(std::size_t count, std::int64_t start_us,
                                       std::uint64_t seed);

/// The identifiers in that traffic, in ascending order.
std::vector<std::uint32_t> generated_ids();

}  // namespace memduel
