// For tests: where this checkout's configs and data sets lie. As macros they would be in all that
// tests compile to, and no checkout could use another one's.
#pragma once

namespace memduel {

extern const char* const kConfigsFolder;
extern const char* const kDatasetsFolder;

}  // namespace memduel
