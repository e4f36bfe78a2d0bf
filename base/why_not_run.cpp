#include "base/why_not_run.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace memduel {

std::string why_not_run(const std::string& program, int error) {
  std::error_code unreadable;
  const bool is_there = program.find('/') != std::string::npos &&
                        std::filesystem::is_regular_file(program, unreadable);
  if (error != ENOENT || !is_there) return std::strerror(error);
  std::ifstream file(program, std::ios::binary);
  constexpr std::size_t kLongest = 256;  // what Linux reads of it
  std::string line(kLongest, '\0');
  file.read(line.data(), static_cast<std::streamsize>(line.size()));
  line.resize(static_cast<std::size_t>(file.gcount()));
  if (!line.starts_with("#!"))
    return "its dynamic linker is not there: it was built for another system";
  const std::size_t begin = line.find_first_not_of(" \t", 2);
  const std::size_t end = begin == std::string::npos ? begin : line.find_first_of(" \t\r\n", begin);
  const std::string interpreter = begin == std::string::npos ? "" : line.substr(begin, end - begin);
  const bool of_windows = end != std::string::npos && line[end] == '\r';
  return "its first line names the interpreter " + interpreter + ", which is not there" +
         (of_windows ? ": the line ends as in Windows" : "");
}

}  // namespace memduel
