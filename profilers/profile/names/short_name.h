// A function's name as people say it.
#pragma once

#include <string>
#include <string_view>

namespace memduel {

/// Whether a character can stand in an identifier.
bool is_word(char c);

/// Without return type, parameters, unnamed namespaces and what stands in angle brackets, which
/// becomes `‹…›`: `nlohmann::basic_json‹…›::parse`. Of a Rust method `<T as Trait>::f` the type's
/// name and the method. Names of other languages and of a runtime's memory, and places, are left as
/// they are.
std::string short_name(std::string_view function);

/// `Table<int>::grow(List<int>)` is `Table::grow(List)`.
std::string without_template_arguments(std::string_view function);

}  // namespace memduel
