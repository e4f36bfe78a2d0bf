// {NAME} and {NAME:WORD} in the texts of a command workload: which there are, where they may
// stand, and their values in one trial.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/config_json.h"
#include "model/document.h"
#include "model/job.h"

namespace memduel {

/// The value of a placeholder, by what stands between its braces; absent: there is none of it.
using PlaceholderValue = std::function<std::optional<std::string>(const std::string& name)>;

/// `text` with its placeholders replaced. NAME is a word of small letters and _; every other text
/// in braces stays as it is (JSON, a regular expression's {2,3}), and so does what follows a $, a
/// shell's ${name}. {{name}} is the text {name}. Throws Error(usage) at `place` for a placeholder
/// that `value` does not know, with the nearest of `known`.
std::string fill_placeholders(std::string_view text, const PlaceholderValue& value,
                              const std::vector<std::string>& known, const std::string& place);

/// The same for texts in which braces have a meaning of their own, as in patterns: what `value`
/// does not know stays.
std::string fill_known_placeholders(std::string_view text, const PlaceholderValue& value);

/// Refuses unknown placeholders, and texts that no argument or environment can hold, in the job and
/// in what its variants change. Throws Error(usage).
void check_texts(const Document& document, const Places& places);

/// A larger file is no template.
inline constexpr std::size_t kMostTemplateBytes = std::size_t{64} << 20;

/// The same in a template: `file` is for the message.
void check_template_text(const std::string& text, const std::string& file);

/// Whether something of the job has {block}: then no two blocks are alike.
bool mentions_block(const Job& job);

struct PlaceholderValues {
  std::filesystem::path trial_dir;
  std::uint64_t seed = 1;
  int block = 0;
  double deadline_seconds = 600;  ///< of the trial, which a profile trial has more of
  /// {site:NAME} by NAME
  std::map<std::string, std::string> site = {};  // NOLINT(readability-redundant-member-init)
  /// {node:ROLE} by ROLE: addresses
  std::map<std::string, std::string> nodes = {};  // NOLINT(readability-redundant-member-init)
};

/// Their values in one trial. A port is chosen at its first mention.
class TrialPlaceholders {
 public:
  explicit TrialPlaceholders(const PlaceholderValues& values);

  /// What {index} stands for from now on; absent: it is unknown.
  void set_index(std::optional<int> index) { index_ = index; }

  /// The port of a {port:NAME}, in which {index} is replaced.
  int port(std::string name);
  [[nodiscard]] const std::map<std::string, int>& ports() const { return ports_; }

  /// `text` filled. `place` is for the message should it have an unknown placeholder.
  std::string fill(const std::string& text, const std::string& place);
  /// A template, line by line.
  std::string fill_template(const std::string& text, const std::string& file);
  /// A JSON document, in whose strings they are; one that is a number alone becomes that number.
  std::string fill_json(const nlohmann::json& document, const std::string& place);
  /// A pattern, in which other text in braces stays.
  std::string fill_pattern(const std::string& text);

 private:
  nlohmann::json filled(const nlohmann::json& value, const std::string& place);
  std::optional<std::string> value_of(const std::string& name);

  std::map<std::string, std::string> values_;
  std::optional<int> index_;
  std::map<std::string, int> ports_;
};

}  // namespace memduel
