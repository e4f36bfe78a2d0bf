#include "profilers/profile/names/short_name.h"

#include <algorithm>

#include "profilers/profile/names/own_code.h"
#include "profilers/profile/names/runtime_memory.h"
#include "profilers/profile/names/rust_names.h"

namespace memduel {
namespace {

constexpr std::string_view kLeftOut = "‹…›";
constexpr std::string_view kAnonymous = "(anonymous namespace)::";
constexpr std::string_view kOperator = "operator";

/// What follows a function's parameters: ` const`, ` &`, ` [clone .isra.0]`.
bool is_qualifier(std::string_view rest) {
  for (const std::string_view word : {" const", " volatile", " &", " noexcept", " [", " ("})
    if (rest.starts_with(word)) return true;
  return false;
}

/// Whether the word operator stands at a place, and no longer word.
bool is_operator(std::string_view text, std::size_t at) {
  const std::string_view rest = text.substr(at);
  return rest.starts_with(kOperator) && (at == 0 || !is_word(text[at - 1])) &&
         (rest.size() == kOperator.size() || !is_word(rest[kOperator.size()]));
}

class Shortening {
 public:
  explicit Shortening(std::string_view text) : text_(text) {}

  std::string result() {
    while (at_ < text_.size()) step();
    return out_.empty() ? std::string(text_) : out_;
  }

 private:
  void step() {
    const char c = text_[at_];
    const std::string_view rest = text_.substr(at_);
    if (is_operator(text_, at_)) return take_operator();
    if (rest.starts_with(kAnonymous)) {
      at_ += kAnonymous.size();
      return;
    }
    switch (c) {
      case '<':
        out_ += kLeftOut;
        at_ = after_bracket(text_, at_);
        return;
      case '(':
        at_ = after_bracket(text_, at_);
        after_parameters_ = true;
        return;
      case '{':
        return take_braces(rest);
      case ' ':
        return take_space(rest);
      default:
        take(1);
    }
  }

  void take(std::size_t count) {
    out_ += text_.substr(at_, count);
    at_ += count;
    after_parameters_ = false;
  }

  void take_operator() {
    std::size_t end = at_ + kOperator.size();
    if (text_.substr(end).starts_with("()")) {
      end += 2;
    } else if (end < text_.size() && text_[end] == ' ') {
      while (end < text_.size() && text_[end] != '(' && text_[end] != '<') ++end;
    } else {
      while (end < text_.size() &&
             std::string_view("<>=!+-*/%^&|~,[]").find(text_[end]) != std::string_view::npos)
        ++end;
    }
    take(end - at_);
    if (text_.substr(at_).starts_with(" <")) take(1);
  }

  /// `{lambda(int)#1}` is `{lambda}`.
  void take_braces(std::string_view rest) {
    const std::size_t end = after_bracket(text_, at_);
    out_ += rest.starts_with("{lambda") ? "{lambda}" : text_.substr(at_, end - at_);
    at_ = end;
    after_parameters_ = false;
  }

  /// Before a space stands a return type, after parameters a qualifier.
  void take_space(std::string_view rest) {
    if (after_parameters_ && is_qualifier(rest)) {
      ++at_;
      while (at_ < text_.size() && text_[at_] != ' ' && !text_.substr(at_).starts_with("::"))
        at_ = text_[at_] == '[' || text_[at_] == '(' ? after_bracket(text_, at_) : at_ + 1;
      return;
    }
    out_.clear();
    ++at_;
    after_parameters_ = false;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string out_;
  bool after_parameters_ = false;
};

/// The last part of a Rust type's path.
std::string_view type_name(std::string_view type) {
  std::size_t begin = 0;
  for (std::size_t i = 0; i < type.size() && type[i] != '<' && type[i] != '(' && type[i] != '[';
       ++i)
    if (type.substr(i).starts_with("::")) begin = i + 2;
  return type.substr(begin);
}

}  // namespace

bool is_word(char c) {
  return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

std::string short_name(std::string_view function) {
  // Python's `Trainer.step.<locals>.<listcomp>`, and `f (<string>)`, which no C++ function's
  // parameters look like.
  const std::size_t place = function.rfind(" (<");
  const bool python = function.ends_with(".py)") ||
                      (function.ends_with(">)") && place != std::string_view::npos) ||
                      function.find(".<") != std::string_view::npos;
  if (python || is_place(function) || function.starts_with('[') || runtime_memory(function))
    return std::string(function);
  if (const auto method = rust_method(function))
    return Shortening(type_name(method->type)).result() + Shortening(method->method).result();
  if (function.starts_with('<')) return std::string(function);
  return Shortening(function).result();
}

std::string without_template_arguments(std::string_view function) {
  std::string out;
  for (std::size_t at = 0; at < function.size();) {
    if (is_operator(function, at)) {
      const std::size_t end = function.find_first_not_of("<>=-", at + kOperator.size());
      out += function.substr(at, end - at);
      at = std::min(end, function.size());
    } else if (function[at] == '<') {
      at = after_bracket(function, at);
    } else {
      out += function[at++];
    }
  }
  return out;
}

}  // namespace memduel
