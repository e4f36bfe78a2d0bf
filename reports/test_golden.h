// Comparison with a checked-in file.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "util/file.h"

namespace memduel {

/// Expects `text` to equal testing/golden/`name`; with MEMDUEL_UPDATE_GOLDEN=1 in the environment
/// the file is written instead and the test fails, so that nobody forgets to look at the change.
inline void expect_golden(const std::string& name, const std::string& text) {
  const std::filesystem::path path = std::filesystem::path(MEMDUEL_GOLDEN_DIR) / name;
  if (std::getenv("MEMDUEL_UPDATE_GOLDEN") != nullptr) {
    write_file_atomically(path, text);
    FAIL() << "wrote " << path << "; look at the change and run again without the variable";
  }
  EXPECT_EQ(text, read_file(path)) << "MEMDUEL_UPDATE_GOLDEN=1 rewrites " << path;
}

}  // namespace memduel
