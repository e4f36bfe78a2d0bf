#pragma once

// Configs to begin with, of frameworks and kinds of programs: configs/templates/, built in.

#include <string>

namespace memduel::cli {

/// One line for each template: its name and what it is for.
std::string list_templates();

/// The text of a template.
/// Throws Error (usage) that names all templates if there is none of that name.
std::string template_text(const std::string& name);

}  // namespace memduel::cli
