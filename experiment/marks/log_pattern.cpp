#include "experiment/marks/log_pattern.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <fmt/format.h>
#include <pcre2.h>

#include <algorithm>
#include <array>

#include "base/error.h"

namespace memduel {
namespace {

/// About 10 ms of searching one line; PCRE2's own limit lets a pattern like (a+)+b take seconds.
constexpr std::uint32_t kMatchLimit = 200'000;

std::vector<LogPattern::Group> groups_of(const pcre2_code* code) {
  std::uint32_t count = 0;
  std::uint32_t entry_size = 0;
  PCRE2_SPTR entry = nullptr;
  pcre2_pattern_info(code, PCRE2_INFO_NAMECOUNT, &count);
  pcre2_pattern_info(code, PCRE2_INFO_NAMEENTRYSIZE, &entry_size);
  pcre2_pattern_info(code, PCRE2_INFO_NAMETABLE, &entry);
  std::vector<LogPattern::Group> groups;
  for (; count > 0; --count, entry += entry_size) {
    // Two bytes of group number, then the name with its NUL.
    groups.push_back({reinterpret_cast<const char*>(entry + 2),
                      static_cast<std::size_t>(entry[0] << 8 | entry[1])});
  }
  std::ranges::sort(groups, [](const auto& a, const auto& b) { return a.number < b.number; });
  return groups;
}

}  // namespace

struct LogPattern::Code {
  explicit Code(pcre2_code* compiled)
      : code(compiled),
        match(pcre2_match_data_create_from_pattern(compiled, nullptr)),
        context(pcre2_match_context_create(nullptr)) {
    pcre2_set_match_limit(context, kMatchLimit);
  }
  Code(const Code&) = delete;
  Code& operator=(const Code&) = delete;
  ~Code() {
    pcre2_match_context_free(context);
    pcre2_match_data_free(match);
    pcre2_code_free(code);
  }

  [[nodiscard]] int search(std::string_view line) const {
    return pcre2_match(code, reinterpret_cast<PCRE2_SPTR>(line.data()), line.size(), 0, 0, match,
                       context);
  }

  pcre2_code* code;
  pcre2_match_data* match;
  pcre2_match_context* context;
};

LogPattern::LogPattern(const std::string& pattern) {
  int error_number = 0;
  PCRE2_SIZE error_offset = 0;
  pcre2_code* code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(), 0,
                                   &error_number, &error_offset, nullptr);
  if (code == nullptr) {
    std::array<PCRE2_UCHAR, 256> text{};
    pcre2_get_error_message(error_number, text.data(), text.size());
    throw Error(ExitCode::usage,
                fmt::format("\"{}\" is not a regular expression: {} at character {}", pattern,
                            reinterpret_cast<const char*>(text.data()), error_offset + 1));
  }
  code_ = std::make_shared<Code>(code);
  named_groups_ = groups_of(code);
  std::uint32_t count = 0;
  pcre2_pattern_info(code, PCRE2_INFO_CAPTURECOUNT, &count);
  group_count_ = count;
}

bool LogPattern::matches(std::string_view line) const {
  return code_->search(line) >= 0;
}

LogPattern::Match LogPattern::match(std::string_view line) const {
  Match result;
  const int found = code_->search(line);
  if (found < 0) {
    if (found != PCRE2_ERROR_NOMATCH) result.outcome = Outcome::gave_up;
    return result;
  }
  result.outcome = Outcome::found;
  const PCRE2_SIZE* bounds = pcre2_get_ovector_pointer(code_->match);
  for (std::size_t group = 0; group <= group_count_; ++group) {
    const PCRE2_SIZE begin = bounds[2 * group];
    const PCRE2_SIZE end = bounds[2 * group + 1];
    // \K in a lookahead can put the begin after the end.
    const bool took_part = begin != PCRE2_UNSET && begin <= end;
    result.groups.push_back(took_part ? std::optional(line.substr(begin, end - begin))
                                      : std::nullopt);
  }
  return result;
}

}  // namespace memduel
