// Adjusted p-values for families of tests.
#pragma once

#include <span>
#include <vector>

namespace memduel {

/// Holm's step-down (Scand. J. Statist. 6, 1979): the chance of one false rejection or more stays
/// within the level, whatever the dependence. For gate rows.
std::vector<double> holm(std::span<const double> p);

/// Benjamini and Hochberg's step-up (J. R. Statist. Soc. B 57, 1995): the expected share of false
/// rejections. For advisory rows.
std::vector<double> benjamini_hochberg(std::span<const double> p);

}  // namespace memduel
