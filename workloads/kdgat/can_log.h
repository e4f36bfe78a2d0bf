// Recorded bus traffic, in the three layouts that public recordings have.
//
//   (1701998281.317190) can0 200#0003C000C000C000                          candump -l
//   1478198376.389427,0316,8,05,21,68,09,21,21,00,6f,R                     HCRL car-hacking CSV:
//   time, id, DLC,
//                                                                          DLC bytes, R normal or T
//                                                                          injected
//   Timestamp: 1479121434.850202  ID: 0350  000  DLC: 8  05 28 84 …        HCRL's attack-free text
//
// Sources: man candump of can-utils; ocslab.hksecurity.net/Datasets/car-hacking-dataset.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "can_frame.h"

namespace memduel {

/// Hands over every frame of the log, in its order. The first line says which layout it is; empty
/// lines are passed over. `name` is only for messages. Throws Error(io) naming the line, what was
/// found and what was expected, also of a frame that is earlier than the one before.
void parse_can_log(std::string_view text, const std::string& name,
                   const std::function<void(const CanFrame&)>& use);

std::vector<CanFrame> read_can_log(const std::filesystem::path& path);

}  // namespace memduel
