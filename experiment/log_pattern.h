// A PCRE2 pattern for lines of logs.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace memduel {

class LogPattern {
 public:
  /// Throws Error(usage) with the position when `pattern` cannot be compiled.
  explicit LogPattern(const std::string& pattern);

  /// Whether the pattern is found anywhere in `line`. Bytes that are no UTF-8 match as bytes.
  [[nodiscard]] bool matches(std::string_view line) const;

 private:
  struct Code;
  std::shared_ptr<const Code> code_;
};

}  // namespace memduel
