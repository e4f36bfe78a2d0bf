// Text for people: UTF-8 characters and what a terminal may get of them, numbers with their units,
// and the names that are nearest to a wrong one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace memduel {

/// What stands in for a byte that is not part of a well-formed character: U+FFFD.
inline constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

/// Length of the well-formed character at `i`, or 0 (Unicode 15, table 3-7).
std::size_t character_length(std::string_view text, std::size_t i);

/// Of one well-formed character.
std::uint32_t code_point(std::string_view character);

bool is_control(std::uint32_t code_point);

/// Marks, embeddings, overrides and isolates that reorder the text around them.
bool changes_direction(std::uint32_t code_point);

/// Calls `write(character, code_point)` for each character; ill-formed bytes arrive as U+FFFD.
template <typename Write>
void for_each_character(std::string_view text, Write write) {
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = character_length(text, i);
    const std::string_view character = length == 0 ? kReplacement : text.substr(i, length);
    write(character, code_point(character));
    i += std::max<std::size_t>(length, 1);
  }
}

/// One line for a terminal: no control character, no escape sequence, no change of direction.
std::string escape_terminal(std::string_view text);

/// The same of a text of several lines, which keeps them.
std::string escape_terminal_lines(std::string_view text);

/// Characters, counting each code point once.
std::size_t count_characters(std::string_view utf8);

/// Bytes in the binary unit that keeps three or four digits: 512 B, 41.3 KiB, 182.5 MiB, 1.25 GiB.
std::string format_bytes(double bytes);

/// "34.3 ± 5.6 MiB": both in the unit of the larger; no interval of less than half a byte.
std::string format_bytes_with_interval(double bytes, double half_width);

/// How many bytes B, KiB, MiB, GiB or TiB is.
std::optional<double> byte_unit(std::string_view name);

/// Of a number and its unit: 512B, 900MiB, 1.5GiB; without a unit bytes. Absent for anything else.
std::optional<double> parse_bytes(std::string_view text);

/// Seconds as 35.0 ns, 7.2 us, 0.8 ms, 12.3 s, 4 min 05 s or 2 h 10 min.
std::string format_seconds(double seconds);

/// A value in the unit that the metric's name ends with (see list metrics); "-" when absent.
std::string format_metric(std::string_view metric, std::optional<double> value);

/// A number of bytes or seconds in the unit that suits `reference`, with three digits: 0.98 s
/// beside 1.07 s. A value of another unit is as format_metric() writes it, without what it is per.
std::string format_metric_like(std::string_view metric, double value, double reference);

/// "1 block", "2 blocks"; what does not take an s is given: "2 processes".
std::string format_count(std::size_t n, std::string_view noun, std::string_view plural = {});

/// The same of a number that was estimated, rounded first: 1.2 is "1 block".
std::string format_estimated_count(double n, std::string_view noun, std::string_view plural = {});

/// From this ratio on people read a multiple rather than a percentage: 843 times, not +84200%.
inline constexpr double kTimes = 2;

/// "12.5", "843".
std::string format_multiple(double ratio);

/// A ratio as a change: 0.59 is "-41.0%", 1.02 is "+2.0%", 843 is "843 times".
std::string format_change(double ratio);

/// A share as sentences give it: 0.41 is "41%", 0.034 is "3.4%", 0.0042 is "0.42%".
std::string format_percent(double share);

/// A share that somebody wrote, with three digits and no exponent: 0.00573 is "0.573%", 20 is
/// "2000%".
std::string format_share(double share);

/// A margin or another size of a metric, as a share of the baseline; one that is more than the
/// baseline itself is an amount: 64 KiB, not 1600% of 4 KiB.
std::string format_size(std::string_view metric, double share, std::optional<double> baseline);

/// "−1% to +2%" of two ends, or one of them where they read alike.
std::string format_interval(const std::string& low, const std::string& high);

/// The text, bytes that are not UTF-8 replaced: names come from other people's files.
std::string valid_utf8(const std::string& text);

/// The name of a file or a folder for something that people may call as they like: neither a path
/// nor hidden.
std::string file_name_for(std::string name);

/// The candidate with the smallest edit distance to `word`, else the shortest that `word` and "_"
/// begin, else the only one that `word` begins. Nothing when all are far away: more than a third of
/// the word's length (at least 2), or more than half of the longer of the two.
std::optional<std::string> nearest_name(std::string_view word,
                                        const std::vector<std::string>& candidates);

/// Error text for a bad number: "expected a whole number from 1 to 9, found X".
std::string not_whole_number(std::string_view found, std::int64_t least, std::int64_t most);
std::string not_above_zero(std::string_view found);

/// "did you mean "X"?" of the nearest name, or `otherwise`.
std::string nearest_advice(std::string_view word, const std::vector<std::string>& candidates,
                           const std::string& otherwise = {});

}  // namespace memduel
