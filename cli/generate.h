// What an installation gives to man and to shells, from the command line as CLI11 knows it.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace memduel::cli {

/// A manual page of section 1, in roff.
std::string manual_page(const CLI::App& app);

std::string bash_completion(const CLI::App& app);
std::string zsh_completion(const CLI::App& app);
std::string fish_completion(const CLI::App& app);

}  // namespace memduel::cli
