// Commands that are printed to be run as they are: a command line with some of its options changed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace memduel {

/// `words` without every `option` and the `values` words after it, or its value in the same word.
/// What stands behind "--" belongs to another program and stays.
std::vector<std::string> without_option(std::vector<std::string> words, std::string_view option,
                                        std::size_t values);

/// `words` without every "--set KEY=VALUE" of `key`.
std::vector<std::string> without_setting(std::vector<std::string> words, std::string_view key);

/// `words` with `options` behind their own, before "--".
std::vector<std::string> with_options(std::vector<std::string> words,
                                      const std::vector<std::string>& options);

/// Text that ends with a command, which stands on a line of its own: nothing breaks that line.
std::string with_command(const std::string& text, const std::string& command);

}  // namespace memduel
