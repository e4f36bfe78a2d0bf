// SHA-256 of bytes and files (OpenSSL's libcrypto).
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace memduel {

/// 64 lower-case hexadecimal digits.
std::string sha256_hex(std::string_view bytes);

/// The same over a file, read in pieces. Throws Error(io).
std::string sha256_hex_of_file(const std::filesystem::path& path);

}  // namespace memduel
