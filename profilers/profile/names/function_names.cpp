// The short form of a function's name, C++'s and Rust's, and whose code a frame is.

#include "profile/function_names.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <initializer_list>
#include <optional>
#include <string_view>

#include "stack_names.h"

namespace memduel {

/// The place after the bracket that closes the one at `at`; the end where none does.
std::size_t after_bracket(std::string_view text, std::size_t at);

/// Views into the name that was parsed.
struct RustMethod {
  std::string_view type;    ///< without `&`, `mut ` and `dyn `, and without further bounds
  std::string_view trait;   ///< empty of a type's own method
  std::string_view method;  ///< with its `::`
};

/// Nothing of a name of another form: `<lambda(int)>`, `<module>`, `app::load`.
std::optional<RustMethod> rust_method(std::string_view function);

/// Whether a function belongs to Rust's own libraries. A method belongs to whoever wrote its type
/// or its trait; types without a path (`u8`, `[T]`) are Rust's.
bool is_of_rust(std::string_view function);

namespace {

constexpr std::array<std::string_view, 7> kLibraries = {
    "std::", "alloc::", "core::", "hashbrown::", "__rdl_", "__rg_", "__rustc"};

/// The place of `word` outside of inner brackets; the end where there is none.
std::size_t find_outside(std::string_view text, std::string_view word) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i).starts_with(word)) return i;
    if (text[i] == '<' || text[i] == '(' || text[i] == '[') i = after_bracket(text, i) - 1;
  }
  return text.size();
}

std::string_view without_modifiers(std::string_view type) {
  for (const std::string_view prefix : {"&", "mut ", "dyn "})
    if (type.starts_with(prefix)) type.remove_prefix(prefix.size());
  return type.substr(0, find_outside(type, " + "));
}

/// Of a type or a trait.
bool is_path_of_rust(std::string_view path) {
  if (path.starts_with('<')) return is_of_rust(path);
  while (path.starts_with('[') || path.starts_with('(')) path.remove_prefix(1);
  return path.find("::") == std::string_view::npos || is_of_rust(path);
}

}  // namespace

std::size_t after_bracket(std::string_view text, std::size_t at) {
  int depth = 0;
  for (std::size_t i = at; i < text.size(); ++i) {
    const char c = text[i];
    const bool arrow = c == '>' && i > 0 && text[i - 1] == '-';
    if (c == '<' || c == '(' || c == '{' || c == '[') ++depth;
    if ((c == '>' && !arrow) || c == ')' || c == '}' || c == ']') --depth;
    if (depth == 0) return i + 1;
  }
  return text.size();
}

std::optional<RustMethod> rust_method(std::string_view function) {
  if (!function.starts_with('<')) return std::nullopt;
  const std::size_t end = after_bracket(function, 0);
  if (!function.substr(end).starts_with("::")) return std::nullopt;
  const std::string_view inside = function.substr(1, end - 2);
  const std::size_t as = find_outside(inside, " as ");
  return RustMethod{without_modifiers(inside.substr(0, as)),
                    as == inside.size() ? std::string_view() : inside.substr(as + 4),
                    function.substr(end)};
}

bool is_of_rust(std::string_view function) {
  if (const auto method = rust_method(function))
    return is_path_of_rust(method->type) && is_path_of_rust(method->trait);
  return std::ranges::any_of(
      kLibraries, [&](std::string_view library) { return function.starts_with(library); });
}

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

/// What Python calls a function without a name, as people call it.
constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kPythonWords = {
    {{"<listcomp>", "list comprehension"},
     {"<dictcomp>", "dict comprehension"},
     {"<setcomp>", "set comprehension"},
     {"<genexpr>", "generator expression"},
     {"<lambda>", "lambda"}}};

/// `rows.<locals>.<listcomp>` is "rows, list comprehension", `rows.<locals>.keep` is `rows.keep`.
std::string python_name(std::string_view function) {
  constexpr std::string_view kLocals = "<locals>.";
  std::string out;
  for (std::size_t at = 0; at < function.size();) {
    const std::string_view rest = function.substr(at);
    const auto* const word = std::ranges::find_if(
        kPythonWords, [&](const auto& one) { return rest.starts_with(one.first); });
    if (rest.starts_with(kLocals)) {
      at += kLocals.size();
    } else if (word == kPythonWords.end()) {
      out += function[at++];
    } else {
      if (out.ends_with('.')) out.replace(out.size() - 1, 1, ", ");
      out += word->second;
      at += word->first.size();
    }
  }
  return out;
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
  if (python) return python_name(function);
  if (is_place(function) || function.starts_with('[') || runtime_memory(function))
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

namespace {

bool begins_with_one_of(std::string_view name, std::initializer_list<std::string_view> prefixes) {
  return std::ranges::any_of(prefixes,
                             [&](std::string_view prefix) { return name.starts_with(prefix); });
}

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::ranges::find(names, name) != names.end();
}

std::string file_name(const Profile& profile, const ProfileLocation& location) {
  if (!location.module) return {};
  return std::filesystem::path(profile.modules[*location.module].path).filename().string();
}

bool is_interpreter(std::string_view file) {
  return begins_with_one_of(file, {"python3", "libpython3"});
}

bool is_loader(std::string_view file) {
  return begins_with_one_of(file, {"ld-linux", "ld.so"});
}

/// How much a frame tells, see leading_frame().
int rank_of(const Profile& profile, const ProfileLocation& location, std::string_view function) {
  if (location.kind == ProfileLocation::Kind::owner && runtime_memory(function) != nullptr)
    return 5;
  if (is_everybodys(profile, location, function)) return 0;
  if (location.kind == ProfileLocation::Kind::python) return 4;
  if (is_place(function) || location.kind == ProfileLocation::Kind::owner) return 1;
  return library_of(profile, location).empty() ? 3 : 2;
}

}  // namespace

std::string_view qualified_name(std::string_view function) {
  int depth = 0;
  std::size_t begin = 0;
  std::size_t end = function.size();
  for (std::size_t i = 0; i < end; ++i) {
    const std::string_view rest = function.substr(i);
    // What follows it may be a bracket, and a space of its own: operator<, operator new.
    if (depth == 0 && rest.starts_with("operator") && (i == begin || function[i - 1] == ':'))
      return function.substr(begin);
    const char c = function[i];
    if (c == '<') ++depth;
    if (c == '>') --depth;
    if (depth > 0) continue;
    if (c == '(' && !rest.starts_with("(anonymous")) end = i;
    if (c == ' ' && !function.substr(0, i).ends_with("(anonymous")) begin = i + 1;
  }
  return function.substr(begin, end - begin);
}

bool hands_memory_out(std::string_view function) {
  const std::string_view name = qualified_name(function);
  if (is_one_of(name, {"allocate", "malloc", "calloc", "realloc", "reallocarray", "aligned_alloc",
                       "posix_memalign", "memalign", "valloc", "mmap", "mmap64", "mremap",
                       "__libc_malloc", "__libc_calloc", "__libc_realloc", "__rust_alloc"}) ||
      begins_with_one_of(name, {"std::", "__gnu_cxx::", "operator new", "c10::alloc_cpu", "["}) ||
      name.ends_with("Allocator::allocate"))
    return true;
  // Names of Rust have no parameters. A C++ namespace may be called core.
  return name.size() == function.size() && is_of_rust(name);
}

bool starts_something(std::string_view function) {
  const std::string_view name = qualified_name(function);
  // A C function has no parameters in its name: clone(State) is somebody's.
  if (function.find('(') != std::string_view::npos) return false;
  return is_one_of(name, {"_start", "start_thread", "clone", "clone3", "__clone", "__clone3"}) ||
         begins_with_one_of(name, {"__libc_start_", "_dl_"});
}

bool is_place(std::string_view function) {
  const std::size_t at = function.rfind("+0x");
  return at != std::string_view::npos && at + 3 < function.size() &&
         function.find_first_not_of("0123456789abcdef", at + 3) == std::string_view::npos;
}

bool is_everybodys(const Profile& profile, const ProfileLocation& location,
                   std::string_view function) {
  if (location.kind == ProfileLocation::Kind::lost) return true;
  if (location.kind == ProfileLocation::Kind::owner) return false;
  if (location.kind == ProfileLocation::Kind::python)
    return !location.names.empty() &&
           location.names.front().file.find("importlib") != std::string::npos;
  const std::string file = file_name(profile, location);
  if (is_interpreter(file) || is_loader(file)) return true;
  if (location.names.empty()) return !library_of(profile, location).empty() || !location.module;
  return hands_memory_out(function) || starts_something(function);
}

std::vector<ToldFrame> told_frames(const Profile& profile, std::uint32_t stack) {
  std::vector<ToldFrame> frames;
  for (std::uint32_t node = stack; node != 0; node = profile.stacks[node].parent) {
    const ProfileLocation& location = profile.locations[profile.stacks[node].location];
    std::vector<FrameName> names = location.names;
    if (names.empty()) names.push_back({describe(profile, location), {}, 0});
    for (FrameName& name : names) {
      const bool own = !is_everybodys(profile, location, name.function);
      frames.push_back({std::move(name), own});
    }
  }
  return frames;
}

std::size_t leading_frame(const Profile& profile, std::uint32_t stack) {
  std::size_t number = 0;
  std::size_t best = 0;
  int best_rank = 0;
  for (std::uint32_t node = stack; node != 0; node = profile.stacks[node].parent) {
    const ProfileLocation& location = profile.locations[profile.stacks[node].location];
    const std::size_t count = std::max<std::size_t>(1, location.names.size());
    for (std::size_t i = 0; i < count; ++i, ++number) {
      const int rank = rank_of(
          profile, location,
          location.names.empty() ? describe(profile, location) : location.names[i].function);
      if (rank > best_rank) {
        best_rank = rank;
        best = number;
      }
    }
  }
  return best;
}

}  // namespace memduel
