// Runs a test program under the built recorder and reads back what it left.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "profile/recorded_files.h"
#include "util/file.h"

namespace memduel {

struct ProgramRun {
  int status = -1;  ///< exit status, or 128 + signal
  std::string out;
  std::vector<HeapCounters> images;  ///< in the order they started
  std::filesystem::path directory;   ///< the recorder's, removed with the run

  ProgramRun() = default;
  ProgramRun(ProgramRun&&) = default;
  ProgramRun& operator=(ProgramRun&&) = delete;
  ProgramRun(const ProgramRun&) = delete;
  ProgramRun& operator=(const ProgramRun&) = delete;
  ~ProgramRun() {
    std::error_code ignored;
    if (!directory.empty()) std::filesystem::remove_all(directory, ignored);
  }
};

/// `command` goes through a shell that is itself not recorded.
inline ProgramRun run_recorded(const std::string& command, const std::string& environment = {},
                               const std::string& more_preload = {}) {
  ProgramRun run;
  std::string name = (std::filesystem::temp_directory_path() / "memduel-recorder-XXXXXX").string();
  EXPECT_NE(mkdtemp(name.data()), nullptr);
  run.directory = name;
  const std::string out = name + "/stdout";
  const std::string line =
      environment + " MEMDUEL_RECORDER_DIR=" + name + " LD_PRELOAD=" MEMDUEL_RECORDER_LIBRARY +
      (more_preload.empty() ? "" : ":" + more_preload) + " " + command + " >" + out;
  const int status = std::system(line.c_str());
  run.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  run.out = read_file(out);
  run.images = read_heap_directory(name).images;
  return run;
}

inline std::string test_program(const std::string& name) {
  return std::string(MEMDUEL_RECORDER_PROGRAMS) + "/" + name;
}

/// The image of `program` (by its file name) that started first; fails the test when there is none.
inline HeapCounters image_of(const ProgramRun& run, const std::string& program) {
  for (const auto& image : run.images) {
    if (std::filesystem::path(image.program).filename() == program) return image;
  }
  ADD_FAILURE() << "no image of " << program << " among " << run.images.size();
  return {};
}

inline HeapScope scope_of_round(const HeapCounters& image, int round) {
  for (const auto& scope : image.scopes) {
    if (scope.round == round && scope.phase.empty()) return scope;
  }
  ADD_FAILURE() << "no round " << round << " among " << image.scopes.size() << " scopes";
  return {};
}

inline std::vector<std::int64_t> numbers_in(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::int64_t> numbers;
  for (std::int64_t number = 0; stream >> number;) numbers.push_back(number);
  return numbers;
}

}  // namespace memduel
