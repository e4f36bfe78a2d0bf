// The testdata/ of a module's tests: expected values as JSON. The test's target defines
// MEMDUEL_ANALYSIS_TESTDATA.
#pragma once

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "util/bytes.h"

namespace memduel {

/// Parses MEMDUEL_ANALYSIS_TESTDATA/<name>.
inline nlohmann::json test_data(const std::string& name) {
  std::ifstream stream(std::string(MEMDUEL_ANALYSIS_TESTDATA) + "/" + name);
  return nlohmann::json::parse(stream);
}

}  // namespace memduel
