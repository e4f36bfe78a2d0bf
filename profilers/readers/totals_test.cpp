// Every total that the tools themselves print of the files in testdata (totals.txt, as make.sh
// wrote it), against what the readers find in those files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <regex>
#include <sstream>

#include "profilers/readers/testing/golden.h"

namespace memduel {
namespace {

using namespace testing_golden;

/// The lines under "== COMMAND".
std::vector<std::string> printed(const std::string& command) {
  std::istringstream text(read_file(golden_file("totals.txt")));
  std::vector<std::string> lines;
  bool inside = false;
  for (std::string line; std::getline(text, line);) {
    if (line.starts_with("== ")) {
      inside = line == "== " + command;
    } else if (inside) {
      lines.push_back(line);
    }
  }
  EXPECT_FALSE(lines.empty()) << command;
  return lines;
}

/// What the first group of `pattern` is in the first line that has it.
std::string captured(const std::vector<std::string>& lines, const std::string& pattern) {
  for (const std::string& line : lines) {
    std::smatch found;
    if (std::regex_search(line, found, std::regex(pattern))) return found[1];
  }
  ADD_FAILURE() << "nothing printed is like " << pattern;
  return "-1";
}

double number(std::string text) {
  std::erase(text, ',');
  return std::stod(text);
}

struct Question {
  const char* option;  ///< of pprof and jeprof
  ProfileKind kind;
  bool objects;
};

constexpr Question kQuestions[] = {{"inuse_space", ProfileKind::live, false},
                                   {"inuse_objects", ProfileKind::live, true},
                                   {"alloc_space", ProfileKind::allocated, false},
                                   {"alloc_objects", ProfileKind::allocated, true}};

TEST(PrintedTotals, OfPprofAndJeprof) {
  const std::pair<const char*, const char*> files[] = {{"google-pprof", "gperftools.heap"},
                                                       {"google-pprof", "sampled.heap"},
                                                       {"jeprof", "jemalloc.heap"}};
  for (const auto& [tool, file] : files) {
    const Profile profile = read_golden(file);
    for (const Question& question : kQuestions) {
      const std::string command = std::string(tool) + " --text --" + question.option + " " + file;
      const double total = number(captured(printed(command), R"(^Total: (\d+) (B|objects)$)"));
      const Estimate found = total_of(profile, question.kind);
      EXPECT_NEAR(question.objects ? found.count : found.bytes, total, 1) << command;
    }
  }
}

TEST(PrintedTotals, OfPprofAndTheCutDump) {
  const auto lines = printed("google-pprof --text --inuse_space gperftools-cut.heap.gz");
  const Profile profile = read_golden("gperftools-cut.heap.gz");
  const double listed = number(captured(lines, R"(^Total: (\d+) B$)"));
  const double whole = number(captured(lines, R"(^heap profile: +\d+: +(\d+) \[)"));
  const double allocated = number(captured(lines, R"(^heap profile: .*\[ *\d+: +(\d+)\])"));
  EXPECT_EQ(total_of(profile, ProfileKind::live).bytes, whole);
  EXPECT_EQ(total_of(profile, ProfileKind::allocated).bytes, allocated);
  EXPECT_EQ(whole - bytes_below(profile, ProfileKind::live, "[cut off]"), listed);
}

TEST(PrintedTotals, OfPprofAndTime) {
  const auto lines = printed("google-pprof --text cpu.prof");
  EXPECT_EQ(total_of(read_golden("cpu.prof"), ProfileKind::allocated).count,
            number(captured(lines, R"(^Total: (\d+) samples$)")));
}

/// Amount of the stacks in which a function has exactly this name.
double amount_under(const Profile& profile, const Question& question, const std::string& function) {
  double amount = 0;
  for (const auto& [stack, estimate] : stacks_of(profile, sites_of(profile, question.kind))) {
    const auto frames = frames_of(profile, stack);
    if (std::any_of(frames.begin(), frames.end(),
                    [&](const FrameName& frame) { return frame.function == function; }))
      amount += question.objects ? estimate.count : estimate.bytes;
  }
  return amount;
}

TEST(PrintedTotals, OfGosPprofWithEveryFunctionThatItLists) {
  const Profile profile = read_golden("go_heap.pb.gz");
  const std::regex row(
      R"(^ *\d+[bB]? +[\d.]+% +[\d.]+% +(\d+)[bB] +[\d.]+%  (\S.*?)( \(inline\))?$)");
  int rows = 0;
  for (const Question& question : kQuestions) {
    const std::string command =
        std::string("go tool pprof -top -sample_index=") + question.option + " go_heap.pb.gz";
    const auto lines = printed(command);
    const Estimate total = total_of(profile, question.kind);
    EXPECT_EQ(question.objects ? total.count : total.bytes,
              number(captured(lines, R"(% of (\d+)[bB] total$)")))
        << command;
    for (const std::string& line : lines) {
      std::smatch found;
      if (!std::regex_match(line, found, row)) continue;
      ++rows;
      EXPECT_EQ(amount_under(profile, question, found[2]), number(found[1])) << line;
    }
  }
  EXPECT_GT(rows, 50);
}

TEST(PrintedTotals, OfGosPprofAndTime) {
  const auto lines = printed("go tool pprof -top go_cpu.pb.gz");
  EXPECT_EQ(total_of(read_golden("go_cpu.pb.gz"), ProfileKind::allocated).bytes,
            1e6 * number(captured(lines, R"(% of (\d+)ms total$)")));
}

/// heaptrack prints 1.13M and 10.00K, in powers of ten.
double heaptrack_bytes(const std::string& text) {
  const double unit = text.ends_with('M') ? 1e6 : text.ends_with('K') ? 1e3 : 1;
  return unit * number(text.substr(0, text.size() - 1));
}

TEST(PrintedTotals, OfHeaptrackPrint) {
  const auto lines = printed("heaptrack_print heaptrack.gz");
  const Profile profile = read_golden("heaptrack.gz");
  EXPECT_EQ(total_of(profile, ProfileKind::allocated).count,
            number(captured(lines, R"(^calls to allocation functions: (\d+))")));
  EXPECT_NEAR(profile.peak.total.bytes,
              heaptrack_bytes(captured(lines, R"(^peak heap memory consumption: (\S+)$)")), 5e3);
  EXPECT_NEAR(total_of(profile, ProfileKind::live).bytes,
              heaptrack_bytes(captured(lines, R"(^total memory leaked: (\S+)$)")), 5);
}

TEST(PrintedTotals, OfHeaptrackInterpretAndTheRawTrace) {
  const auto lines = printed("heaptrack_interpret of heaptrack.raw.zst");
  const Profile profile = read_golden("heaptrack.raw.zst");
  const auto count = [&](const char* what) {
    return number(captured(lines, std::string("^\t") + what + " *\t(\\d+)$"));
  };
  EXPECT_EQ(total_of(profile, ProfileKind::allocated).count, count("allocations:"));
  EXPECT_EQ(total_of(profile, ProfileKind::live).count, count("leaked allocations:"));
  EXPECT_EQ(total_of(profile, ProfileKind::temporary).count, count("temporary allocations:"));
}

TEST(PrintedTotals, OfMsPrintWithEverySnapshot) {
  const Profile profile = read_golden("massif.out");
  const std::regex row(R"(^ *(\d+) +([\d,]+) +([\d,]+) +([\d,]+) +([\d,]+) +([\d,]+)$)");
  std::size_t rows = 0;
  for (const std::string& line : printed("ms_print massif.out")) {
    std::smatch found;
    if (!std::regex_match(line, found, row)) continue;
    const auto snapshot = static_cast<std::size_t>(number(found[1]));
    ASSERT_LT(snapshot, profile.moments.size());
    const ProfileMoment& moment = profile.moments[snapshot];
    ++rows;
    EXPECT_EQ(moment.at, number(found[2])) << line;
    EXPECT_EQ(moment.bytes, number(found[4])) << line;
    EXPECT_EQ(moment.extra_bytes, number(found[5])) << line;
    EXPECT_EQ(moment.bytes + moment.extra_bytes.value_or(0), number(found[3])) << line;
  }
  EXPECT_EQ(rows, profile.moments.size());
}

}  // namespace
}  // namespace memduel
