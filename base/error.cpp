#include "base/error.h"

#include <utility>

namespace memduel {

Error::Error(ExitCode code, const std::string& what, std::string where, std::string advice)
    : std::runtime_error(what), code_(code), where_(std::move(where)), advice_(std::move(advice)) {}

std::string Error::message() const {
  std::string text = where_.empty() ? std::string(what()) : where_ + ": " + what();
  if (!advice_.empty()) text += "\n  " + advice_;
  return text;
}

}  // namespace memduel
