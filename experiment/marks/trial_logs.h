// Where the processes of a trial log to.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "experiment/marks/text_mark_spec.h"

namespace memduel {

struct TrialLogs {
  std::filesystem::path directory;
  std::int64_t trial = 0;  ///< its number, which names begin with

  /// The standard output ("stdout") or standard error ("stderr") of a role.
  [[nodiscard]] std::filesystem::path file(const std::string& role, const char* stream) const {
    return directory / (std::to_string(trial) + "-" + role + "." + stream);
  }

  /// Marks from lines, each with the file that holds its lines.
  [[nodiscard]] std::vector<TextMarkSpec> located(std::vector<TextMarkSpec> specs) const {
    using From = TextMarkSpec::From;
    for (TextMarkSpec& spec : specs) {
      if (spec.from == From::file) continue;
      spec.file = file(spec.role, spec.from == From::standard_error ? "stderr" : "stdout");
    }
    return specs;
  }
};

}  // namespace memduel
