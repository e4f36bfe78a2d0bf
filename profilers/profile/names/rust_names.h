// Functions as Rust names them.
#pragma once

#include <optional>
#include <string_view>

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

}  // namespace memduel
