// The bundled pages, as built from templates/src: the report (main.ts) and the flame graph
// (flame/main.ts). A script has no imports and holds no `</script`, a style sheet no `</style`.
#pragma once

#include <string_view>

namespace memduel {

std::string_view viewer_script();
std::string_view viewer_style();

std::string_view flame_script();
std::string_view flame_style();

}  // namespace memduel
