// A real drive for the tests, where MEMDUEL_DATA_DIR has it: can/candump-2023-12-07_211801.log of
// the public collection ElDominio/CANBUSlogs.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <vector>

#include "can_log.h"

namespace memduel {

class RecordedDrive : public testing::Test {
 protected:
  void SetUp() override {
    const char* data = std::getenv("MEMDUEL_DATA_DIR");
    const std::filesystem::path path =
        std::filesystem::path(data == nullptr ? "" : data) / "can/candump-2023-12-07_211801.log";
    if (data == nullptr || !std::filesystem::exists(path))
      GTEST_SKIP() << "no recorded drive: MEMDUEL_DATA_DIR names no folder with can/";
    if (frames_.empty()) frames_ = read_can_log(path);
  }
  static const std::vector<CanFrame>& drive() { return frames_; }

 private:
  static inline std::vector<CanFrame> frames_;
};

}  // namespace memduel
