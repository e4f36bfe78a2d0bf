#include "foreign_tools.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace memduel::cli {
namespace {

constexpr std::string_view kBoth = "compare measure";
constexpr std::string_view kMeasure = "measure";
constexpr std::string_view kRecord = "record";
constexpr std::string_view kSummary = "summary";
constexpr std::string_view kFlamegraph = "flamegraph";
constexpr std::string_view kOfProfile = "summary flamegraph";

constexpr std::string_view kOfSeveral = "memduel compare takes several commands";
constexpr std::string_view kOfBuilds = "memduel compare takes builds and revisions";

/// What memduel compare has and measure has not.
constexpr std::array kOptionsOfCompare = {
    ForeignOption{kMeasure, "--a", "", kOfSeveral},
    ForeignOption{kMeasure, "--b", "", kOfSeveral},
    ForeignOption{kMeasure, "--parameter-list", "-L", kOfSeveral},
    ForeignOption{kMeasure, "--parameter-scan", "-P", kOfSeveral},
    ForeignOption{kMeasure, "--parameter-step-size", "-D", kOfSeveral},
    ForeignOption{kMeasure, "--calibrate", "",
                  "an A/A test runs two: memduel compare --calibrate CMD CMD"},
    ForeignOption{kMeasure, "--variants", "", "one command is one variant"},
    ForeignOption{kMeasure, "--seed", "", "trials of one command have no order to draw"},
    ForeignOption{kMeasure, "--build-a", "", kOfBuilds},
    ForeignOption{kMeasure, "--build-b", "", kOfBuilds},
    ForeignOption{kMeasure, "--ref-a", "", kOfBuilds},
    ForeignOption{kMeasure, "--ref-b", "", kOfBuilds},
    ForeignOption{kMeasure, "--build", "", kOfBuilds},
    ForeignOption{kMeasure, "--keep", "", kOfBuilds},
    ForeignOption{
        kMeasure, "--gate", "",
        "--limit 'peak_rss<=200MiB' sets a limit; a gate compares with a baseline: memduel measure "
        "CMD --export-json base.json, later memduel compare base.json new.json --gate "
        "'peak_rss<=+5%'"},
    ForeignOption{kMeasure, "--gate-strict", "", "a limit of --limit has no CI"},
    ForeignOption{"compare", "--limit", "",
                  "--gate 'all.peak_rss_bytes<=200MiB' sets a limit for each candidate"},
    ForeignOption{kMeasure, "--json", "", "use --export json FILE"}};

constexpr std::array kCommandsOfHyperfine = {
    ForeignCommand{"hyperfine", "memduel compare 'CMD' 'CMD'", ""}};
constexpr std::array kOptionsOfHyperfine = {
    ForeignOption{kBoth, "--metrics", "",
                  "memory and time are always measured; --gate judges any of memduel list metrics"},
    ForeignOption{kBoth, "--min-benchmarking-time", "", "-r sets the number of trials"},
    ForeignOption{kBoth, "--output", "",
                  "what commands print is kept and compared; to redirect it use -S 'CMD > FILE'"},
    ForeignOption{kBoth, "--show-output", "", "what commands print is in logs/ of the run"},
    ForeignOption{kBoth, "--input", "", "use -S 'CMD < FILE'"},
    ForeignOption{kBoth, "--style", "",
                  "--quiet prints errors only, NO_COLOR=1 prints without colors"},
    ForeignOption{kBoth, "--reference", "", "the first command is the baseline"},
    ForeignOption{kBoth, "--reference-name", "",
                  "-n names the first command, which is the baseline"},
    ForeignOption{kBoth, "--time-unit", "-u",
                  "units follow the size of a value; --export-csv has seconds"},
    ForeignOption{kBoth, "--sort", "", "variants are in the order of their commands"},
    ForeignOption{"memduel", "", "-V", "use --version"},
    ForeignOption{kBoth, "--export-asciidoc", "", "use --export-markdown FILE"},
    ForeignOption{kBoth, "--export-orgmode", "", "use --export-markdown FILE"}};

constexpr std::string_view kNoAttachment =
    "allocations are recorded from the start of a program; watch measures the RSS of one that runs";
constexpr std::string_view kOnePage = "the page needs no network and no other file";
constexpr std::string_view kReplaced = "an existing file is replaced";
constexpr std::string_view kKindLive = "--kind live shows what was not freed at the end";
constexpr std::string_view kKindTemporary =
    "--kind temporary shows what its thread freed in the same phase; there is no threshold";
constexpr std::string_view kNoThreads = "stacks of all threads are added up";
constexpr std::string_view kAlwaysNative =
    "C and C++ frames are always recorded, as are those of Python";
constexpr std::string_view kWatch = "memduel watch -- CMD shows the RSS while CMD runs";
constexpr std::string_view kAlwaysCompressed =
    "the file is compressed with zstd, which has no switch";
constexpr std::string_view kAllSections =
    "all sections are printed; --stacks N sets the number of stacks in each";

constexpr std::array kCommandsOfMemray = {
    ForeignCommand{"memray", "memduel record -- python3 FILE.py",
                   "memduel record --profiler memray -- python3 FILE.py runs memray"},
    ForeignCommand{"memray table", "memduel summary PROFILE", ""},
    ForeignCommand{"memray tree", "memduel summary PROFILE",
                   "it prints the largest stacks of each kind"},
    ForeignCommand{"memray stats", "memduel summary PROFILE", ""},
    ForeignCommand{"memray live", "memduel watch -- CMD",
                   "it prints RSS and PSS, and no functions"},
    ForeignCommand{"memray attach", "memduel watch --pid PID", kNoAttachment},
    ForeignCommand{"memray detach", "memduel watch --pid PID --duration S", kNoAttachment},
    ForeignCommand{"memray transform", "memduel export --format pprof PROFILE",
                   "to read memray's captures use memray transform gprof2dot"},
    ForeignCommand{"memray parse", "memduel export --format folded PROFILE",
                   "it prints sums of stacks, and no single allocations"}};
constexpr std::array kOptionsOfMemray = {
    ForeignOption{kRecord, "--native", "", kAlwaysNative},
    ForeignOption{kRecord, "--trace-python-allocators", "",
                  "PYTHONMALLOC=malloc memduel record -- CMD records each object of Python; "
                  "without it they are in mappings of 1 MiB"},
    ForeignOption{kRecord, "--follow-fork", "",
                  "child processes are always recorded; --alone omits them"},
    ForeignOption{kRecord, "--aggregate", "", "the file always has one sum for each stack"},
    ForeignOption{kRecord, "--live", "", kWatch},
    ForeignOption{kRecord, "--live-remote", "", kWatch},
    ForeignOption{kRecord, "--live-port", "", kWatch},
    ForeignOption{kRecord, "--force", "-f", kReplaced},
    ForeignOption{kRecord, "--quiet", "-q",
                  "messages are on standard error; the output of the command is unchanged"},
    ForeignOption{kRecord, "--buffered-file-io", "",
                  "record has one way to write; docs/recorder.md has what it costs"},
    ForeignOption{kRecord, "--compress-on-exit", "", kAlwaysCompressed},
    ForeignOption{kRecord, "--no-compress", "", kAlwaysCompressed},
    ForeignOption{kRecord, "", "-m", "give the whole command: -- python3 -m MODULE"},
    ForeignOption{kRecord, "", "-c", "give the whole command: -- python3 -c CODE"},
    ForeignOption{kRecord, "--duration", "", kNoAttachment},
    ForeignOption{kRecord, "--method", "", kNoAttachment},
    ForeignOption{kFlamegraph, "--leaks", "", kKindLive},
    ForeignOption{
        kSummary, "--leaks", "",
        "summary prints what was live at the end; memduel flamegraph --kind live draws it"},
    ForeignOption{kFlamegraph, "--temporary-allocations", "", kKindTemporary},
    ForeignOption{kFlamegraph, "--temporary-allocation-threshold", "", kKindTemporary},
    ForeignOption{
        kSummary, "--temporary-allocations", "",
        "summary prints temporary allocations; memduel flamegraph --kind temporary draws them"},
    ForeignOption{
        kSummary, "--temporary-allocation-threshold", "",
        "summary prints temporary allocations; memduel flamegraph --kind temporary draws them"},
    ForeignOption{kFlamegraph, "--temporal", "",
                  "a profile has rounds instead of times, see docs/marks.md; memduel watch shows "
                  "memory over time"},
    ForeignOption{kOfProfile, "--split-threads", "", kNoThreads},
    ForeignOption{kFlamegraph, "--inverted", "",
                  "the page has a switch: callers first, or allocating functions first"},
    ForeignOption{kFlamegraph, "--max-memory-records", "", "the page shows no memory over time"},
    ForeignOption{kOfProfile, "--no-web", "", kOnePage},
    ForeignOption{kFlamegraph, "--confidential-files", "",
                  "the page contains names and lines of functions, and no source code"},
    ForeignOption{kFlamegraph, "--force", "-f", kReplaced},
    ForeignOption{kSummary, "--output", "-o", "redirect it: memduel summary PROFILE > FILE"},
    ForeignOption{kSummary, "--biggest-allocs", "-b", "--stacks N prints the N largest stacks"},
    ForeignOption{kSummary, "--num-largest", "-n", "--stacks N prints the N largest stacks"},
    ForeignOption{kSummary, "--max-rows", "-r", "--stacks N prints the N largest stacks"},
    ForeignOption{kSummary, "--sort-column", "-s", "the largest is always first"}};

constexpr std::array kCommandsOfHeaptrack = {
    ForeignCommand{"heaptrack", "memduel record -- CMD",
                   "memduel record --profiler heaptrack -- CMD runs heaptrack"},
    ForeignCommand{"heaptrack_print", "memduel summary FILE", ""},
    ForeignCommand{"heaptrack_gui", "memduel flamegraph FILE", ""}};
constexpr std::array kOptionsOfHeaptrack = {
    ForeignOption{kRecord, "--raw", "-r", "the file is always resolved; record prints no report"},
    ForeignOption{kRecord, "--record-only", "", "record prints no report"},
    ForeignOption{kRecord, "--analyze", "-a", "memduel summary FILE reads it"},
    ForeignOption{kRecord, "--pid", "-p",
                  "use memduel watch --pid PID; allocations are recorded "
                  "from the start of a program"},
    ForeignOption{kRecord, "--debug", "-d", "give the whole command: -- gdb --args CMD"},
    ForeignOption{kRecord, "--use-inject", "", "the recorder is always preloaded"},
    ForeignOption{"memduel", "--analyze", "-a", "use memduel summary FILE"},
    ForeignOption{"memduel", "--pid", "-p", "use memduel watch --pid PID"},
    ForeignOption{kSummary, "--file", "-f", "give FILE without an option: memduel summary FILE"},
    ForeignOption{kSummary, "", "-d", "use --diff OLD"},
    ForeignOption{kSummary, "--print-peaks", "-p", kAllSections},
    ForeignOption{kSummary, "--print-allocators", "-a", kAllSections},
    ForeignOption{kSummary, "--print-temporary", "-T", kAllSections},
    ForeignOption{kSummary, "--print-leaks", "-l", kAllSections},
    ForeignOption{kSummary, "--peak-limit", "", "use --stacks N"},
    ForeignOption{kSummary, "--sub-peak-limit", "", "use --frames N"},
    ForeignOption{kSummary, "--merge-backtraces", "-m", "equal stacks are always one"},
    ForeignOption{kSummary, "--shorten-templates", "-t",
                  "names are always short; --all-frames prints whole names"},
    ForeignOption{kSummary, "--print-histogram", "-H", "summary prints the sizes of allocations"},
    ForeignOption{kSummary, "--print-flamegraph", "-F",
                  "use memduel flamegraph FILE, or memduel export --format folded FILE"},
    ForeignOption{kSummary, "--print-massif", "-M", "use memduel export --format pprof FILE"},
    ForeignOption{kSummary, "--filter-bt-function", "",
                  "use memduel flamegraph FILE, which searches functions"},
    ForeignOption{kSummary, "--suppressions", "", "every stack is printed"},
    ForeignOption{kOfProfile, "--flamegraph-cost-type", "",
                  "memduel flamegraph --kind peak, live, allocated or temporary"}};

constexpr std::array kCommandsOfPerf = {
    ForeignCommand{"perf", "memduel measure 'CMD'", "it measures memory and time, and no counters"},
    ForeignCommand{"perf stat", "memduel measure 'CMD'",
                   "-r N sets the number of trials; the command is one word in quotes"},
    ForeignCommand{"perf diff", "memduel compare OLD NEW",
                   "OLD and NEW are profiles, runs or commands"},
    ForeignCommand{"perf script", "memduel export --format folded PROFILE", ""},
    ForeignCommand{"perf annotate", "memduel summary PROFILE",
                   "it prints functions, and no source"},
    ForeignCommand{"perf top", "memduel watch --pid PID",
                   "it prints RSS and PSS, and no functions"}};
constexpr std::array kOptionsOfPerf = {
    ForeignOption{kRecord, "--call-graph", "-g", "stacks are always recorded"},
    ForeignOption{kRecord, "--event", "-e", "record records allocations, and no events of a CPU"},
    ForeignOption{kRecord, "--freq", "-F", "--interval SIZE samples one allocation per SIZE bytes"},
    ForeignOption{kRecord, "--all-cpus", "", "record records one command and its children"},
    ForeignOption{kRecord, "--no-inherit", "-i", "use --alone"},
    ForeignOption{kSummary, "--input", "-i", "give FILE without an option: memduel summary FILE"},
    ForeignOption{kSummary, "--stdio", "", "summary always prints text"},
    ForeignOption{kBoth, "--repeat", "", "use -r N"},
    ForeignOption{kBoth, "--event", "-e", "memduel reads no hardware counters; perf stat does"},
    ForeignOption{kBoth, "--detailed", "-d", "memduel reads no hardware counters; perf stat does"},
    ForeignOption{kBoth, "--null", "", "memduel reads no hardware counters"}};

constexpr std::string_view kOneErrorRate = "the error rate is always 5%, see docs/method.md";
constexpr std::array kCommandsOfBenchstat = {
    ForeignCommand{"benchstat", "memduel compare OLD NEW",
                   "OLD and NEW are runs, profiles or commands; --export benchstat FILE writes "
                   "what benchstat reads"}};
constexpr std::array kOptionsOfBenchstat = {
    ForeignOption{"compare", "-col", "", "each file or command is a column"},
    ForeignOption{"compare", "-row", "", "each metric is a row"},
    ForeignOption{"compare", "-table", "", "--verbose prints every table"},
    ForeignOption{"compare", "-filter", "", "--gate names the metrics that are judged"},
    ForeignOption{"compare", "-ignore", "", "a warning names what differs between two runs"},
    ForeignOption{"compare", "-alpha", "", kOneErrorRate},
    ForeignOption{"compare", "-confidence", "", kOneErrorRate},
    ForeignOption{"compare", "-format", "", "use --export csv FILE"}};

constexpr std::string_view kOwnFiles =
    "the files of results may have been measured by "
    "memduel, hyperfine or Google Benchmark";
constexpr std::array kCommandsOfComparePy = {
    ForeignCommand{"compare.py", "memduel compare OLD.json NEW.json", kOwnFiles},
    ForeignCommand{"compare.py benchmarks", "memduel compare OLD.json NEW.json", kOwnFiles},
    ForeignCommand{"compare.py filters", "memduel compare 'CMD' 'CMD'",
                   "give the filter to the benchmark: './bench --benchmark_filter=A'"},
    ForeignCommand{"compare.py benchmarksfiltered", "memduel compare 'CMD' 'CMD'",
                   "give the filter to the benchmark: './bench --benchmark_filter=A'"}};
constexpr std::array kOptionsOfComparePy = {
    ForeignOption{"compare", "--alpha", "", kOneErrorRate},
    ForeignOption{"compare", "--no-utest", "", "every comparison is tested"},
    ForeignOption{"compare", "--display_aggregates_only", "",
                  "medians are always printed; --verbose prints every table"},
    ForeignOption{"compare", "--dump_to_json", "", "use --export json FILE"},
    ForeignOption{"compare", "--no-color", "", "set NO_COLOR=1"}};

constexpr std::array kCommandsOfTime = {
    ForeignCommand{"GNU time", "memduel measure 'CMD'", "the command is one word in quotes"}};
constexpr std::array kOptionsOfTime = {
    ForeignOption{"memduel", "--verbose", "-v", "use memduel measure 'CMD'"},
    ForeignOption{kMeasure, "", "-v", "memory and time are always printed; --verbose adds tables"},
    ForeignOption{kBoth, "--format", "-f", "use --export FORMAT FILE"},
    ForeignOption{kBoth, "", "-o", "use --export text FILE"},
    ForeignOption{kBoth, "--append", "-a", "each run has a directory of its own"},
    ForeignOption{kMeasure, "--portability", "", "use --export FORMAT FILE"}};

constexpr std::array kTools = {ForeignTool{"", {}, kOptionsOfCompare},
                               ForeignTool{"hyperfine", kCommandsOfHyperfine, kOptionsOfHyperfine},
                               ForeignTool{"heaptrack", kCommandsOfHeaptrack, kOptionsOfHeaptrack},
                               ForeignTool{"memray", kCommandsOfMemray, kOptionsOfMemray},
                               ForeignTool{"perf", kCommandsOfPerf, kOptionsOfPerf},
                               ForeignTool{"benchstat", kCommandsOfBenchstat, kOptionsOfBenchstat},
                               ForeignTool{"compare.py", kCommandsOfComparePy, kOptionsOfComparePy},
                               ForeignTool{"GNU time", kCommandsOfTime, kOptionsOfTime}};

bool has_word(std::string_view words, std::string_view word) {
  return fmt::format(" {} ", words).find(fmt::format(" {} ", word)) != std::string::npos;
}

}  // namespace

std::span<const ForeignTool> foreign_tools() {
  return kTools;
}

std::optional<std::string> advice_for_foreign_command(std::string_view word) {
  for (const ForeignTool& tool : kTools)
    for (const ForeignCommand& command : tool.commands)
      if (command.known.substr(command.known.rfind(' ') + 1) == word)
        return fmt::format("did you mean {}, for {}?{}", command.instead, command.known,
                           command.note.empty() ? "" : fmt::format(" Note: {}", command.note));
  return std::nullopt;
}

std::optional<std::string> refusal_of_foreign_option(std::string_view verb,
                                                     std::string_view option) {
  if (option.empty()) return std::nullopt;
  for (const ForeignTool& tool : kTools)
    for (const ForeignOption& one : tool.options)
      if (has_word(one.verbs, verb) && (option == one.name || option == one.letter))
        return fmt::format("unknown option {}{}; {}", option,
                           tool.name.empty() ? "" : fmt::format(" of {}", tool.name), one.advice);
  return std::nullopt;
}

bool is_one_dash_option(std::string_view option) {
  return option.size() > 2 && option.starts_with('-') && option[1] != '-';
}

}  // namespace memduel::cli
