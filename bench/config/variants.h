// Which variants of a document run.
#pragma once

#include "config/overrides.h"
#include "config/read_document.h"
#include "model/document.h"

namespace memduel {

/// Keeps those that the options ask for and adds the twin of --calibrate; `places` follow. Throws
/// Error(usage) for names that are given twice or that no variant has, and for a variable that no
/// environment can hold.
void choose_variants(Document& document, Places& places, const Overrides& overrides);

/// Throws Error(usage) for a variable whose name or value no environment can hold.
void refuse_bad_environment(const Environment& env, const JsonPath& path, const Places& places);

}  // namespace memduel
