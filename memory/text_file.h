// The texts of /proc, of control groups, and numbers in them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace memduel {

/// The whole text; empty when the file cannot be read.
std::string text_of(const std::string& path);

/// The number that `text` begins with; absent for "max" and for nothing.
std::optional<std::int64_t> number_in(std::string_view text);

/// The number after `key` at the start of a line: "oom_kill 3".
std::optional<std::int64_t> keyed_number(std::string_view text, std::string_view key);

/// Bytes of a line "NAME:  1234 kB" of status, smaps_rollup or meminfo.
std::optional<std::int64_t> sized_field(std::string_view text, std::string_view name);

}  // namespace memduel
