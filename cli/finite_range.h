// Numbers of the command line that CLI::Range alone would not keep out.
#pragma once

#include <CLI/CLI.hpp>

namespace memduel::cli {

/// A number from `least` to `most`. CLI::Range lets NaN through, which is neither below nor above.
CLI::Validator finite_range(double least, double most);

/// Before CLI::AsSizeValue, which takes -1 for the largest number of bytes that there is.
CLI::Validator no_sign();

}  // namespace memduel::cli
