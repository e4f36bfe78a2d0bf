// A command on a pseudo-terminal.
#pragma once

#include <gmock/gmock.h>

#include <cctype>
#include <sstream>

#include "support/memduel_program.h"
#include "util/text.h"

namespace memduel {

/// `script` (bsdutils) gives the command a terminal of its own; its bytes are in `out`.
inline Finished on_a_terminal(const Workplace& place, const std::string& command,
                              int columns = 80) {
  Running run(place, "/usr/bin/script",
              {"-qec",
               "stty rows 24 cols " + std::to_string(columns) + " && cd '" +
                   place.path("").string() + "' && " + command,
               "/dev/null"},
              place.path(""));
  return run.wait();
}

/// What stays of a line when its escape sequences and what it wrote over are taken out.
inline std::string shown(std::string line) {
  if (!line.empty() && line.back() == '\r') line.pop_back();
  line = line.substr(line.rfind('\r') + 1);
  std::string text;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] != '\033') {
      text += line[i];
      continue;
    }
    do ++i;
    while (i < line.size() && std::isalpha(static_cast<unsigned char>(line[i])) == 0);
  }
  return text;
}

/// Paths stay whole to be copied, however long the folder of the build is; so do commands, and the
/// name of a gate on a line of its own.
inline bool may_be_long(const std::string& line) {
  const std::size_t first = line.find_first_not_of(' ');
  if (line.find("<=") != std::string::npos && line.find(' ', first) == std::string::npos)
    return true;
  for (const char* words : {"memduel flamegraph", "profile:", "report:"})
    if (line.find(words) != std::string::npos) return true;
  return line.starts_with('/') || line.find(" /") != std::string::npos;
}

inline void expect_fits(const Finished& run, const std::string& command, std::size_t columns = 80) {
  EXPECT_THAT(run.out, testing::Not(testing::HasSubstr("basic_string"))) << command;
  std::istringstream lines(run.out);
  for (std::string line; std::getline(lines, line);) {
    const std::string text = shown(line);
    if (may_be_long(text)) continue;
    EXPECT_LE(count_characters(text), columns) << command << ": " << text;
  }
}

}  // namespace memduel
