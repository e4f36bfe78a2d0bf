// A device that writes down what it was asked for.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "memduel/memory.h"
#include "memory/testing/bytes.h"

namespace memduel {

class ScriptedDevice : public DeviceMemory {
 public:
  std::string why;      ///< it can do nothing
  std::string failure;  ///< thrown by all but limitation()
  std::int64_t reserved = 200 * kMebi;
  std::vector<std::string> calls;

  [[nodiscard]] std::string limitation() const override { return why; }
  [[nodiscard]] std::optional<DeviceBytes> bytes() const override {
    fail_if_told();
    return DeviceBytes{100 * kMebi, reserved, 600 * kMebi, 1000 * kMebi};
  }
  void synchronize() override {
    fail_if_told();
    calls.emplace_back("synchronize");
  }
  void empty_cache() override {
    calls.emplace_back("empty_cache");
    reserved = 100 * kMebi;
  }

 private:
  void fail_if_told() const {
    if (!failure.empty()) throw std::runtime_error(failure);
  }
};

}  // namespace memduel
