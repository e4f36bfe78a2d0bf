// What a verb says on standard output.
#pragma once

#include <string>

namespace memduel::cli {

/// `text` in stdout, whole. Throws Error(io) when it cannot be written.
void print(const std::string& text);

/// Columns of the terminal on `descriptor`; 80 where it is none.
int columns_of(int descriptor);

/// `text` for people: where `descriptor` is a terminal, lines are broken where they do not fit.
std::string fitted_to(int descriptor, const std::string& text);
/// Prints `text` for people.
void print_fitted(const std::string& text);
/// Prints a table: on a terminal, lines end with "…" where they do not fit.
void print_table(const std::string& table);

}  // namespace memduel::cli
