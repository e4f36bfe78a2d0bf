// Why the system would not execute a program, in words that name what is missing.
#pragma once

#include <string>

namespace memduel {

/// The system's words for `error`; where the program is there and its interpreter is not, that.
std::string why_not_run(const std::string& program, int error);

}  // namespace memduel
