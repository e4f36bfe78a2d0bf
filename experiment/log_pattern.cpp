#include "experiment/log_pattern.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <fmt/format.h>
#include <pcre2.h>

#include <array>

#include "base/error.h"

namespace memduel {

struct LogPattern::Code {
  Code(pcre2_code* compiled, pcre2_match_data* result) : code(compiled), match(result) {}
  Code(const Code&) = delete;
  Code& operator=(const Code&) = delete;
  ~Code() {
    pcre2_match_data_free(match);
    pcre2_code_free(code);
  }
  pcre2_code* code;
  pcre2_match_data* match;
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
  code_ = std::make_shared<Code>(code, pcre2_match_data_create_from_pattern(code, nullptr));
}

bool LogPattern::matches(std::string_view line) const {
  return pcre2_match(code_->code, reinterpret_cast<PCRE2_SPTR>(line.data()), line.size(), 0, 0,
                     code_->match, nullptr) >= 0;
}

}  // namespace memduel
