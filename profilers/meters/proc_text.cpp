#include "proc_text.h"

#include "memory/kernel_files.h"

namespace memduel {
namespace {

/// A count is never below 0.
std::optional<std::int64_t> leading_count(std::string_view text) {
  const auto value = number_in(text);
  return value && *value >= 0 ? value : std::nullopt;
}

/// What follows the `count`-th space of `text`.
std::string_view after_spaces(std::string_view text, int count) {
  for (; count > 0; --count) {
    const std::size_t space = text.find(' ');
    if (space == std::string_view::npos) return {};
    text.remove_prefix(space + 1);
  }
  return text;
}

/// Field 3 and what follows. The command name is field 2 and may hold anything, so count from its
/// closing parenthesis.
std::string_view from_state(std::string_view stat) {
  const std::size_t name_end = stat.rfind(") ");
  return name_end == std::string_view::npos ? std::string_view{} : stat.substr(name_end + 2);
}

}  // namespace

std::optional<std::int64_t> resident_pages(std::string_view statm) {
  return leading_count(after_spaces(statm, 1));
}

std::optional<std::int64_t> anonymous_pages(std::string_view statm) {
  const auto resident = leading_count(after_spaces(statm, 1));
  const auto shared = leading_count(after_spaces(statm, 2));
  if (!resident || !shared || *shared > *resident) return std::nullopt;
  return *resident - *shared;
}

std::optional<FaultCounts> fault_counts(std::string_view stat) {
  const auto minor = leading_count(after_spaces(from_state(stat), 7));
  const auto major = leading_count(after_spaces(from_state(stat), 9));
  if (!minor || !major) return std::nullopt;
  return FaultCounts{*minor, *major};
}

bool is_only_forked(std::string_view stat) {
  constexpr std::int64_t kForkedNoExec = 0x40;  // PF_FORKNOEXEC of the kernel, in field 9
  return (leading_count(after_spaces(from_state(stat), 6)).value_or(0) & kForkedNoExec) != 0;
}

}  // namespace memduel
