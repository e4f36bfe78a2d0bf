// What the tests of this room share: units, expected values from analysis/testdata.
#pragma once

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "base/byte_units.h"

namespace memduel {

/// Parses analysis/testdata/<name>.
inline nlohmann::json test_data(const std::string& name) {
  std::ifstream stream(std::string(MEMDUEL_ANALYSIS_TESTDATA) + "/" + name);
  return nlohmann::json::parse(stream);
}

}  // namespace memduel
