#include "readers/foreign_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "profile/recorded_files.h"
#include "readers/plain_source.h"
#include "readers/read_profile.h"
#include "util/command_line.h"
#include "util/error.h"

namespace memduel {
namespace {

/// How a kind is recognised.
enum class Sign {
  begins,  ///< the file begins with the text
  json,    ///< the same, without the spaces and line ends that a writer of JSON may put between
  early,   ///< the text is among the first 64 bytes
  within,  ///< the text is among the first 64 KiB
};

struct KnownSign {
  Sign sign;
  std::string_view text;
  ForeignFile file;
};

constexpr ForeignFile kMemray{
    "a capture of memray",
    "memray transform gprof2dot FILE and memray stats --json FILE write what memduel reads"};
constexpr ForeignFile kV8{
    "a heap profile of V8",
    "Chrome's developer tools open it; memduel compare --a 'node …' --b 'node …' compares the "
    "memory of two commands"};
constexpr ForeignFile kHyperfine{"a file of results of hyperfine",
                                 "memduel compare FILE OTHER compares them with another such file, "
                                 "memduel compare FILE the commands in it"};
constexpr ForeignFile kResults{"a file of results of memduel",
                               "memduel compare FILE OTHER compares them with other results; "
                               "memduel summary DIR lists the profiles of the run in DIR"};

constexpr ForeignFile kGoBenchmarks{
    "a file of results of Go's benchmarks",
    "benchstat FILE OTHER compares them; memduel compare --a './old.test -test.bench .' --b "
    "'./new.test -test.bench .' compares the memory of two test programs"};

constexpr std::array kKnownSigns = {
    KnownSign{Sign::begins, std::string_view("memray\0", 7), kMemray},
    // memray packs with LZ4, which leaves the first bytes as they are.
    KnownSign{Sign::early, std::string_view("memray\0", 7), kMemray},
    KnownSign{Sign::begins,
              "desc:",
              {"a file of massif, Valgrind's heap profiler",
               "record the program with memduel record or heaptrack"}},
    KnownSign{Sign::json,
              R"({"dhatFileVersion")",
              {"a file of DHAT", "record the program with memduel record or heaptrack"}},
    KnownSign{Sign::begins,
              std::string_view("\0\0\0\0\0\0\0\0\3\0\0\0\0\0\0\0", 16),
              {"a CPU profile of gperftools",
               "google-pprof --collapsed PROGRAM FILE writes folded stacks, which memduel reads"}},
    KnownSign{Sign::within,
              "speedscope.app/file-format-schema",
              {"a profile of speedscope",
               "export pprof or folded stacks from the tool that recorded it"}},
    KnownSign{Sign::begins,
              "PERFILE2",
              {"a recording of perf",
               "perf script report stackcollapse -i FILE writes folded stacks, which memduel "
               "reads; memduel record -- PROGRAM records allocations"}},
    KnownSign{Sign::within,
              " Performance counter stats for",
              {"a report of perf stat",
               "memduel compare --a CMD --b CMD compares the memory and time of two commands"}},
    KnownSign{Sign::begins, "goos: ", kGoBenchmarks},
    KnownSign{Sign::begins, "pkg: ", kGoBenchmarks},
    KnownSign{Sign::begins,
              "\tCommand being timed: ",
              {"a report of GNU time",
               "memduel compare --a CMD --b CMD compares the memory and time of two commands"}},
    KnownSign{Sign::begins,
              "reading file \"",
              {"a report of heaptrack_print", "memduel summary reads the file that it is made of"}},
    KnownSign{Sign::begins,
              "JAVA PROFILE 1.0",
              {"a heap dump of a Java virtual machine",
               "Eclipse Memory Analyzer opens it; memduel compare --a 'java …' --b 'java …' "
               "compares the memory of two commands"}},
    KnownSign{Sign::begins,
              std::string_view("FLR\0", 4),
              {"a recording of Java Flight Recorder",
               "async-profiler's jfrconv -o collapsed FILE OUT writes folded stacks, which memduel "
               "reads"}},
    KnownSign{Sign::json, R"({"snapshot":{"meta")", kV8},
    KnownSign{Sign::json, R"({"head":{"callFrame")", kV8},
    KnownSign{Sign::json, R"({"results":[{"command")", kHyperfine},
    KnownSign{Sign::json, R"({"schema_version":)", kHyperfine},
    KnownSign{Sign::json,
              R"({"machine_info")",
              {"a file of results of pytest-benchmark",
               "memduel measures commands itself: memduel compare --a CMD --b CMD"}},
    KnownSign{Sign::json,
              R"({"context":{"date")",
              {"a file of results of Google Benchmark",
               "memduel compare FILE OTHER compares them with another such file"}},
    KnownSign{Sign::json, R"({"ablation":)", kResults},
    KnownSign{Sign::within,
              R"("memduel.counts/)",
              {"a file of counters of memduel record --count",
               "without --count, memduel record also records stacks"}},
    KnownSign{Sign::begins,
              std::string_view("SQLite format 3\0", 16),
              {"a database, such as a run's store", "give the run's directory"}},
    KnownSign{Sign::begins,
              "\x7f"
              "ELF",
              {"a program", "memduel record -- FILE records it"}},
};

std::string without_spaces(std::string_view text) {
  std::string compact(text);
  std::erase_if(compact, [](unsigned char letter) { return std::isspace(letter) != 0; });
  return compact;
}

}  // namespace

const ForeignFile* foreign_file(std::string_view head) {
  constexpr std::size_t kEarly = 64;
  constexpr std::size_t kSome = 4096;
  const std::string_view early = head.substr(0, kEarly);
  const std::string compact = without_spaces(head.substr(0, kSome));
  for (const KnownSign& known : kKnownSigns) {
    const bool is_there = known.sign == Sign::begins ? head.starts_with(known.text)
                          : known.sign == Sign::json ? compact.starts_with(known.text)
                          : known.sign == Sign::early
                              ? early.find(known.text) != std::string_view::npos
                              : head.find(known.text) != std::string_view::npos;
    if (is_there) return &known.file;
  }
  return nullptr;
}

std::string next_step_for(const ForeignFile& kind, const std::string& file) {
  constexpr std::string_view kPlace = "FILE";
  std::string text(kind.next);
  const std::string word = quoted_command_line({file});
  for (std::size_t at = text.find(kPlace); at != std::string::npos;
       at = text.find(kPlace, at + word.size()))
    text.replace(at, kPlace.size(), word);
  return text;
}

void refuse_as_results(const std::filesystem::path& file) {
  std::error_code unreadable;
  if (!std::filesystem::is_regular_file(file, unreadable)) return;  // a pipe gives its bytes once
  const PlainSource source(file);
  if (const ForeignFile* kind = foreign_file(source.head()))
    throw Error(ExitCode::io, fmt::format("is {}, and not the results of a run", kind->name),
                file.string(), next_step_for(*kind, file.string()));
}

}  // namespace memduel
