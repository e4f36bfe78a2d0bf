// Numbers in the sentences of this library, which links no formatting library.
#pragma once

#include <cstdint>
#include <string>

namespace memduel {

/// "85", "0.5", "nan"
std::string plain_number(double value);

/// "240.0 MiB"
std::string mebibytes(std::int64_t bytes);

/// "91.3%"
std::string percentage(double value);

/// "1.20 ms"
std::string milliseconds(double seconds);

}  // namespace memduel
