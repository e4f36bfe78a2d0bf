// What the command line changes in a config.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/document.h"

namespace memduel {

struct Overrides {
  std::vector<std::string> set;                   ///< path=value, applied in order
  std::map<std::string, std::string> set_places;  ///< of those in a suite: where it has them
  std::optional<std::vector<std::string>> arms;   ///< only these; must hold the baseline
  std::string arms_place = "--variants";          ///< of `arms`, for messages
  std::optional<int> repeats;
  std::optional<int> warmups;
  std::vector<std::string> gates;           ///< replace the config's, when not empty
  std::optional<std::uint64_t> seed;        ///< of the order of the arms; replaces measure.seed
  std::optional<std::uint64_t> drawn_seed;  ///< of the order, where the config gives none
  bool strict_gates = false;
  bool no_default_gates = false;             ///< refused where the config names them
  bool default_gates_if_named_only = false;  ///< else they inform and decide nothing
  bool calibrate = false;                    ///< adds a twin of the baseline, run like any arm
  bool one_variant = false;                  ///< the baseline may be the only variant
  std::optional<Document> resumed;           ///< the resolved config of the run that goes on
};

}  // namespace memduel
