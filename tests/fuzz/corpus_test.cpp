// Runs each fuzz target over the files of its corpus, as libFuzzer does before it tries others. A
// target that finds a fault traps.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

#include "util/file.h"

namespace {

/// A fuzz target and the directory of its corpus.
struct Target {
  const char* name;
  int (*run)(const std::uint8_t* data, std::size_t size);
  const char* corpus;
};

}  // namespace

// extern "C" declarations and kTargets, from the memduel_fuzz() calls in the CMakeLists.txt files.
#include "fuzz_targets.inc"

namespace {

void PrintTo(const Target& target, std::ostream* out) {
  *out << target.name;
}

void run(const Target& target, const std::string& bytes) {
  EXPECT_EQ(target.run(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()), 0);
}

class FuzzCorpus : public testing::TestWithParam<Target> {};

TEST_P(FuzzCorpus, IsReadWithoutAFault) {
  const Target& target = GetParam();
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(target.corpus)) {
    if (!entry.is_regular_file()) continue;
    SCOPED_TRACE(entry.path());
    run(target, memduel::read_file(entry.path()));
    ++files;
  }
  EXPECT_GT(files, 0U) << target.corpus << " is empty";
  run(target, "");
}

INSTANTIATE_TEST_SUITE_P(Targets, FuzzCorpus, testing::ValuesIn(kTargets),
                         [](const auto& about) { return std::string(about.param.name); });

}  // namespace
