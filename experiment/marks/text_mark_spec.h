// Which lines of which log are marks.
#pragma once

#include <filesystem>
#include <string>

namespace memduel {

/// Lines of a log that mark rounds, phases and metrics of a role.
struct TextMarkSpec {
  enum class From { standard_output, standard_error, file };

  std::string role;
  From from = From::standard_output;
  std::filesystem::path file;  ///< of a stream: where it is written, once its trial is planned
  std::string pattern;         ///< see TextMarkPattern
};

}  // namespace memduel
