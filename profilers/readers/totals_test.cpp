// Every total that the tools themselves print of the files in testdata (totals.txt and
// memray_totals.txt, as make.sh and make_memray.sh wrote them), against what the readers find in
// those files.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "test_golden_files.h"

namespace memduel {
namespace {

using namespace testing_golden;

/// The lines under "== COMMAND".
std::vector<std::string> printed(const std::string& command,
                                 const std::string& file = "totals.txt") {
  std::istringstream text(read_file(golden_file(file)));
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

/// The dump of jemalloc.heap as it would be if the program lay there.
Profile jemalloc_of_program(const std::string& program) {
  const std::string recorded = "/opt/heap_shapes/shapes_jemalloc";
  std::string text = read_file(golden_file("jemalloc.heap"));
  for (std::size_t at = 0; (at = text.find(recorded, at)) != std::string::npos;
       at += program.size())
    text.replace(at, recorded.size(), program);
  return read_text(text);
}

/// The program in testdata has its names on every machine.
Profile jemalloc_with_names() {
  return jemalloc_of_program(golden_file("shapes_jemalloc").string());
}

TEST(PrintedTotals, StayWhereAProgramsNameIsTooLongForTheSystem) {
  const Profile profile = jemalloc_of_program("/opt/" + std::string(5000, 'x'));
  EXPECT_EQ(total_of(profile, ProfileKind::live).bytes,
            total_of(jemalloc_with_names(), ProfileKind::live).bytes);
  EXPECT_THAT(profile.notes, testing::Contains(testing::HasSubstr("File name too long")));
}

std::string without_parameters(const std::string& function) {
  return function.substr(0, function.find('('));
}

/// What jeprof prints of a function: in stacks that end there, and in all that go through it.
std::pair<double, double> flat_and_cumulative(const Profile& profile, const Question& question,
                                              const std::string& function) {
  std::pair<double, double> amounts;
  for (const auto& [stack, estimate] : stacks_of(profile, sites_of(profile, question.kind))) {
    const double amount = question.objects ? estimate.count : estimate.bytes;
    const auto frames = frames_of(profile, stack);
    const auto is_it = [&](const FrameName& frame) {
      return without_parameters(frame.function) == function;
    };
    if (!frames.empty() && is_it(frames.back())) amounts.first += amount;
    if (std::ranges::any_of(frames, is_it)) amounts.second += amount;
  }
  return amounts;
}

TEST(PrintedTotals, OfJeprofWithEveryFunctionOfTheProgram) {
  const Profile profile = jemalloc_with_names();
  const std::regex row(R"(^ *(\d+) +[\d.]+% +[\d.]+% +(\d+) +[\d.]+% (\S+)$)");
  const std::set<std::string> program = {"_start",   "main",        "leak",
                                         "hold_all", "come_and_go", "allocate"};
  std::set<std::string> seen;
  for (const Question& question : kQuestions) {
    const std::string command =
        std::string("jeprof --text --") + question.option + " jemalloc.heap";
    double flat_elsewhere = 0;
    for (const std::string& line : printed(command)) {
      std::smatch found;
      if (!std::regex_match(line, found, row)) continue;
      if (!program.contains(found[3])) {  // in libraries, whose names each machine has otherwise
        flat_elsewhere += number(found[1]);
        continue;
      }
      const auto [flat, cumulative] = flat_and_cumulative(profile, question, found[3]);
      EXPECT_NEAR(flat, number(found[1]), 1) << command << line;
      EXPECT_NEAR(cumulative, number(found[2]), 1) << command << line;
      seen.insert(found[3]);
    }
    const Estimate total = total_of(profile, question.kind);
    const double here = flat_and_cumulative(profile, question, "allocate").first;
    EXPECT_NEAR((question.objects ? total.count : total.bytes) - here, flat_elsewhere, 1);
  }
  EXPECT_EQ(seen, program);
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

/// Amount of the stacks in which a function has exactly this name.
double amount_under(const Profile& profile, const Question& question, const std::string& function) {
  double amount = 0;
  for (const auto& [stack, estimate] : stacks_of(profile, sites_of(profile, question.kind))) {
    const auto frames = frames_of(profile, stack);
    if (std::ranges::any_of(frames,
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

/// After a free, heaptrack_print sets the number of the block that was allocated last to 0, which
/// is a number too: it counts a free of blocks number 0 that follows another free as a temporary
/// one.
std::size_t frees_of_zero_after_another() {
  PlainSource source(golden_file("heaptrack.gz"));
  std::size_t found = 0;
  bool freed = true;
  while (const auto line = source.line()) {
    if (*line == "- 0" && freed) ++found;
    if (line->starts_with("-") || line->starts_with("+")) freed = line->starts_with("-");
  }
  return found;
}

TEST(PrintedTotals, OfHeaptrackPrintAndWhyItHasAnotherTemporaryBlock) {
  const double all = number(captured(printed("heaptrack_print heaptrack.gz"),
                                     R"(^temporary memory allocations: (\d+) )"));
  const double ours = total_of(read_golden("heaptrack.gz"), ProfileKind::temporary).count;
  EXPECT_EQ(frees_of_zero_after_another(), 1U);
  EXPECT_EQ(ours + static_cast<double>(frees_of_zero_after_another()), all);
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

/// As memray writes an amount: "268.096kB", "960.000B".
std::string memray_bytes(double bytes) {
  std::string unit;
  for (const char* next : {"k", "M"}) {
    if (bytes < 1000) break;
    bytes /= 1000;
    unit = next;
  }
  return fmt::format("{:.3f}{}B", bytes, unit);
}

/// The line behind a heading.
std::string printed_under(const std::vector<std::string>& lines, const std::string& heading) {
  const auto at = std::ranges::find_if(
      lines, [&](const std::string& line) { return line.ends_with(heading + ":"); });
  if (lines.end() - at < 2) ADD_FAILURE() << "nothing under " << heading;
  return lines.end() - at < 2 ? "" : at[1].substr(1);
}

TEST(PrintedTotals, OfMemrayStatsWithEveryPlaceThatItLists) {
  const auto lines = printed("memray stats memray.bin", "memray_totals.txt");
  const Profile profile = read_golden("memray-stats.json");
  EXPECT_EQ(profile.info.at("allocations"), printed_under(lines, "Total allocations"));
  EXPECT_EQ(memray_bytes(total_of(profile, ProfileKind::allocated).bytes),
            printed_under(lines, "Total memory allocated"));
  const std::string peak = printed_under(lines, "Peak memory usage");
  EXPECT_EQ(memray_bytes(number(profile.info.at("peak_bytes"))), peak);
  EXPECT_EQ(memray_bytes(read_golden("memray-gprof2dot.json").peak.total.bytes), peak);
  std::map<std::string, double> places;
  for (const auto& [stack, amount] :
       stacks_of(profile, sites_of(profile, ProfileKind::allocated))) {
    const FrameName frame = frames_of(profile, stack).at(0);
    places[fmt::format("{}:{}:{}", frame.function, frame.file, frame.line)] = amount.bytes;
  }
  const std::regex row("^\t- (.*) -> (.*B)$");
  int rows = 0;
  for (const std::string& line : lines) {
    std::smatch found;
    if (!std::regex_match(line, found, row)) continue;
    ++rows;
    EXPECT_EQ(memray_bytes(places.at(found[1])), found[2]) << line;
  }
  EXPECT_EQ(rows, 5);
}

struct FunctionAmounts {
  Estimate total;  ///< of the stacks that it is in
  Estimate own;    ///< of those that end in it
};

/// At the peak, by "FUNCTION at FILE", as memray's summary adds its records up: in their order,
/// until it has 95% of the bytes (src/memray/reporters/summary.py).
std::map<std::string, FunctionAmounts> summary_of(const Profile& profile) {
  std::map<std::string, FunctionAmounts> functions;
  double added = 0;
  for (const auto& [site, amount] : profile.peak.sites) {
    if (added >= 0.95 * profile.peak.total.bytes) break;
    added += amount.bytes;
    std::set<std::string> names;
    std::string innermost;
    for (const FrameName& frame : frames_of(profile, profile.sites[site].stack)) {
      const bool unknown = frame.function == "[unknown]";
      const bool native = frame.file.empty() || unknown;
      innermost = fmt::format("{} at {}", unknown ? "<unknown>" : frame.function,
                              native ? "<unknown>" : frame.file);
      names.insert(innermost);
    }
    for (const std::string& name : names) functions[name].total += amount;
    functions[innermost].own += amount;
  }
  return functions;
}

TEST(PrintedTotals, OfMemraySummaryWithEveryFunction) {
  const auto lines = printed("memray summary memray.bin", "memray_totals.txt");
  const auto stacks = summary_of(read_golden("memray-gprof2dot.json"));
  const std::regex row(R"(^│ (\S.*?) +│ +(\S+) │ +\S+ │ +(\S+) │ +\S+ │ +(\d+) │$)");
  std::set<std::string> seen;
  for (const std::string& line : lines) {
    std::smatch found;
    if (!std::regex_match(line, found, row)) continue;
    const std::string function = found[1];
    seen.insert(function);
    ASSERT_TRUE(stacks.contains(function)) << line;
    EXPECT_EQ(memray_bytes(stacks.at(function).total.bytes), found[2]) << line;
    EXPECT_EQ(memray_bytes(stacks.at(function).own.bytes), found[3]) << line;
  }
  EXPECT_EQ(seen.size(), stacks.size());
}

}  // namespace
}  // namespace memduel
