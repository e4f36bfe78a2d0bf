// What memduel's exit codes mean: one table for every help and for docs/ci.md.
#pragma once

#include <CLI/CLI.hpp>
#include <span>
#include <string>

namespace memduel::cli {

struct ExitCodeMeaning {
  const char* code;
  const char* meaning;
};

std::span<const ExitCodeMeaning> exit_code_meanings();

/// Of a verb whose exit code gates decide: the table, behind its examples. @param bisect whether
/// the verb has --bisect.
void add_exit_codes(CLI::App& verb, bool bisect = false);

/// The table alone.
std::string exit_code_table();

/// The code that `git bisect run` takes in place of one of memduel's: good, bad, skip (125), and
/// what ends the bisection (128 and more).
int bisect_code(int code);

}  // namespace memduel::cli
