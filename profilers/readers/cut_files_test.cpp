// A file that ends at the end of a line looks whole: whatever the format lets tell is told.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "profile/outputs.h"
#include "test_golden_files.h"

namespace memduel {
namespace {

using testing::Contains;
using testing::Each;
using testing::HasSubstr;
using testing::Not;
using namespace testing_golden;

constexpr const char* kCutOff = "may be cut off";

std::string unpacked(const std::string& golden) {
  PlainSource source(golden_file(golden));
  return source.rest();
}

/// Ends of lines, the file's own left out: about `most` of them, the last eight among them.
std::vector<std::size_t> line_ends(const std::string& text, std::size_t most) {
  std::vector<std::size_t> ends;
  for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos; ++at) {
    if (at + 1 < text.size()) ends.push_back(at + 1);
  }
  constexpr std::size_t kLast = 8;
  const std::size_t step = std::max<std::size_t>(1, ends.size() / most);
  std::vector<std::size_t> sample;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    if (i % step == 0 || i + kLast >= ends.size()) sample.push_back(ends[i]);
  }
  return sample;
}

/// What a profile says of the program: who has how much, and when.
std::string said_by(const Profile& profile) {
  std::string said;
  for (const ProfileKind kind :
       {ProfileKind::peak, ProfileKind::live, ProfileKind::allocated, ProfileKind::temporary}) {
    said += to_string(kind) + "\n" + export_folded(profile, kind);
  }
  for (const ProfileMoment& moment : profile.moments) {
    said += fmt::format("{} {}\n", moment.at, moment.bytes);
  }
  return said;
}

bool is_told(std::string_view text, const std::string& whole) {
  const std::string problem = problem_of(text);
  if (!problem.empty()) return problem.starts_with("text: byte ");
  const Profile profile = read_text(text);
  const bool noted = std::ranges::any_of(profile.notes, [](const std::string& note) {
    return note.find(kCutOff) != std::string::npos;
  });
  // [vsyscall], behind [stack], is no loss.
  return noted || said_by(profile) == whole;
}

class LinesOf : public testing::TestWithParam<const char*> {};

TEST_P(LinesOf, AFileCutAfterAnyIsTold) {
  const std::string text = unpacked(GetParam());
  const std::string whole = said_by(read_text(text));
  const std::vector<std::size_t> ends = line_ends(text, 12);
  ASSERT_GE(ends.size(), 8U);
  for (const std::size_t end : ends) {
    EXPECT_TRUE(is_told(std::string_view(text).substr(0, end), whole))
        << "cut at byte " << end << " of " << text.size();
  }
}

TEST_P(LinesOf, AWholeFileRaisesNoAlarm) {
  EXPECT_THAT(read_golden(GetParam()).notes, Each(Not(HasSubstr(kCutOff))));
}

INSTANTIATE_TEST_SUITE_P(Golden, LinesOf,
                         testing::Values("heaptrack.gz", "heaptrack.raw.zst", "gperftools.heap",
                                         "gperftools-cut.heap.gz", "sampled.heap", "jemalloc.heap"),
                         [](const auto& entry) {
                           std::string name = entry.param;
                           std::erase_if(name,
                                         [](char letter) { return std::isalnum(letter) == 0; });
                           return name;
                         });

TEST(LinesOfTheMaps, ALibraryThatIsMissingIsSaid) {
  const std::string text = unpacked("jemalloc.heap");
  const Profile profile = read_text(text.substr(0, text.find("MAPPED_LIBRARIES:\n") + 18));
  EXPECT_THAT(profile.notes, Contains(HasSubstr("its list of mapped files ends before [stack]")));
  EXPECT_GT(bytes_below(profile, ProfileKind::live, "[outside every module]"), 0);
}

}  // namespace
}  // namespace memduel
