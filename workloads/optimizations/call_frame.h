// What a Python function's frame keeps alive: the objects its locals still name until it returns.
#pragma once

#include <memory>
#include <vector>

namespace memduel {

enum class Side { client, server };

class CallFrame {
 public:
  explicit CallFrame(Side side) : side_(side) {}

  [[nodiscard]] Side side() const { return side_; }
  void keep(std::shared_ptr<const void> object) { kept_.push_back(std::move(object)); }
  void release() { kept_.clear(); }

 private:
  Side side_;
  std::vector<std::shared_ptr<const void>> kept_;
};

}  // namespace memduel
