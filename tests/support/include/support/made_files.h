// Files of the checkout that are made of tables in the code.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "util/file.h"

namespace memduel {

/// Expects `file` to be `text`. With MEMDUEL_UPDATE_GOLDEN=1 in the environment it is written.
inline void expect_file(const std::filesystem::path& file, const std::string& text) {
  if (std::getenv("MEMDUEL_UPDATE_GOLDEN") != nullptr) write_file_atomically(file, text);
  EXPECT_TRUE(read_text_file(file) == text)
      << file << " is not as MEMDUEL_UPDATE_GOLDEN=1 makes it";
}

}  // namespace memduel
