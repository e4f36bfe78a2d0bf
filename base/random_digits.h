// Digits that nobody can foresee.
#pragma once

#include <string>

namespace memduel {

/// 32 hexadecimal digits of the kernel's random numbers.
std::string random_digits();

}  // namespace memduel
