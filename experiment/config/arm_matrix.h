// Arms by the axes in which they differ, in place of each written out.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace memduel {

/// An arm of more is a mistake in its axes: a config has at most so many arms.
inline constexpr std::size_t kMostArms = 64;

/// Replaces each arm that has a `matrix` by one arm for every combination: the arm without it, with
/// what each axis' value changes merged over it, named NAME-VALUE-VALUE. Other arms stay. Throws
/// Error(usage) naming the place of a matrix that is no list of axes, and for more than kMostArms.
void expand_arm_matrices(nlohmann::json& document, const std::string& origin);

}  // namespace memduel
