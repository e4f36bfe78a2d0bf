// Traffic for more graphs than a recording gives: of a car that never was, and attacks injected
// into recorded traffic.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "can_frame.h"

namespace memduel {

/// `count` frames in order of time from `start_us`, of 34 identifiers that each send with a period
/// of 10 ms to 1 s, 2% of jitter and a fixed length: as many identifiers, frames a second and
/// lengths as in a recorded drive. A byte is constant, counts, wanders like a sensor's value, or is
/// random. The identifiers, periods and lengths are always the same; the seed decides the rest.
std::vector<CanFrame> generate_traffic(std::size_t count, std::int64_t start_us,
                                       std::uint64_t seed);

/// The identifiers in that traffic, in ascending order.
std::vector<std::uint32_t> generated_ids();

// Attacks on recorded traffic, as the HCRL car-hacking data set describes its own: "DoS" injects
// identifier 0000 every 0.3 ms, "fuzzy" random identifiers and data every 0.5 ms, "spoofing" the
// identifier of one signal (there the gear or the engine's speed) every 1 ms; every intrusion lasts
// 3 to 5 s, 300 of them in 30 to 40 minutes, so that one begins about every 7 s.
// Source: ocslab.hksecurity.net/Datasets/car-hacking-dataset.

enum class Attack { dos, fuzzy, spoofing };

/// The traffic, which must be in order of time, with injected frames between; of frames at one time
/// the traffic's own come first. Nothing is delayed, which on a real bus an identifier of higher
/// priority would do. Pauses of 2 to 4 s come before intrusions. Spoofing takes the identifier that
/// is most frequent in the traffic, with its length and data that are random once per intrusion.
/// The seed decides everything.
std::vector<CanFrame> inject(const std::vector<CanFrame>& traffic, Attack attack,
                             std::uint64_t seed);

}  // namespace memduel
