// The bundled report viewer, as built from templates/src.
#pragma once

#include <string_view>

namespace memduel {

/// One script without imports; holds no `</script`.
std::string_view viewer_script();

/// One style sheet; holds no `</style`.
std::string_view viewer_style();

}  // namespace memduel
