// A PCRE2 pattern for lines of logs.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace memduel {

class LogPattern {
 public:
  /// A named group and its number.
  struct Group {
    std::string name;
    std::size_t number = 0;
  };

  enum class Outcome {
    none,
    found,
    gave_up,  ///< too many ways to match: the line was not decided
  };

  /// What was found in one line; the texts are parts of it.
  struct Match {
    Outcome outcome = Outcome::none;
    /// By group number, 0 is the whole match; absent: the group took no part.
    std::vector<std::optional<std::string_view>> groups;
  };

  /// Throws Error(usage) with the position when `pattern` cannot be compiled.
  explicit LogPattern(const std::string& pattern);

  /// Whether the pattern is found anywhere in `line`. Bytes that are no UTF-8 match as bytes.
  [[nodiscard]] bool matches(std::string_view line) const;
  /// The first place where it is found, with its groups.
  [[nodiscard]] Match match(std::string_view line) const;

  /// In the order of their numbers.
  [[nodiscard]] const std::vector<Group>& named_groups() const { return named_groups_; }
  /// Groups, named or not, without the whole match.
  [[nodiscard]] std::size_t group_count() const { return group_count_; }

 private:
  struct Code;
  std::shared_ptr<const Code> code_;
  std::vector<Group> named_groups_;
  std::size_t group_count_ = 0;
};

}  // namespace memduel
