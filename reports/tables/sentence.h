// A sentence with the words that a page may set apart.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/names.h"

namespace memduel {

enum class Mark { plain, strong, verdict };
template <>
inline constexpr NameTable<Mark, 3> kNameTable<Mark> = {
    {{Mark::plain, "plain"}, {Mark::strong, "strong"}, {Mark::verdict, "verdict"}}};

struct SentencePart {
  std::string text;
  Mark mark = Mark::plain;
};

class Sentence {
 public:
  Sentence() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): most sentences set no word apart
  Sentence(std::string text) { add(std::move(text)); }

  Sentence& add(std::string text, Mark mark = Mark::plain) {
    if (!parts_.empty() && parts_.back().mark == mark)
      parts_.back().text += text;
    else if (!text.empty())
      parts_.push_back({std::move(text), mark});
    return *this;
  }
  [[nodiscard]] const std::vector<SentencePart>& parts() const { return parts_; }
  [[nodiscard]] bool empty() const { return parts_.empty(); }
  /// For whoever sets no word apart.
  [[nodiscard]] std::string text() const {
    std::string all;
    for (const SentencePart& part : parts_) all += part.text;
    return all;
  }

 private:
  std::vector<SentencePart> parts_;
};

}  // namespace memduel
