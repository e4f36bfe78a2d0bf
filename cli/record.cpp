// memduel record -- CMD…: runs a command under a tracer and leaves a profile per process image.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <optional>

#include "cli/option_checks.h"
#include "cli/print.h"
#include "cli/program.h"
#include "cli/verbs.h"
#include "external/traced_command.h"
#include "external/tracers.h"
#include "model/run_directory.h"
#include "named_file.h"
#include "profile/recorded_files.h"
#include "profile/recording.h"
#include "profile_file.h"
#include "run/store.h"
#include "util/error.h"
#include "util/text.h"

namespace memduel::cli {
namespace {

constexpr const char* kHowOptions = "What to record";

struct RecordArguments {
  std::vector<std::string> command;
  std::string tracer = kRecorderTracer;
  std::optional<std::uint64_t> interval;
  bool exact = false;
  bool count = false;
  bool alone = false;
  bool debuginfod = false;
  std::string snapshot_at;
  std::string peak_from;
  std::string output;
};

/// " (78.3 MiB inherited at the fork, 12.0 MiB its own)", for a forked process.
std::string inherited_part(const HeapCounters& image, std::int64_t peak, std::int64_t inherited) {
  if (!image.forked) return {};
  return fmt::format(" ({} inherited at the fork, {} its own)",
                     format_bytes(static_cast<double>(inherited)),
                     format_bytes(static_cast<double>(peak - inherited)));
}

std::string counters_of(const HeapCounters& image) {
  std::string text =
      fmt::format("peak {}{}, live at end {} (with malloc's overhead); {} requested in {}",
                  format_bytes(static_cast<double>(image.peak_bytes)),
                  inherited_part(image, image.peak_bytes, image.inherited_bytes),
                  format_bytes(static_cast<double>(image.live_bytes)),
                  format_bytes(static_cast<double>(image.allocated_bytes)),
                  format_count(static_cast<std::size_t>(image.allocations), "allocation"));
  if (image.mapping_peak_bytes > 0) {
    text +=
        fmt::format(", mappings {}{}, peak of heap and mappings {}{}",
                    format_bytes(static_cast<double>(image.mapping_peak_bytes)),
                    inherited_part(image, image.mapping_peak_bytes, image.inherited_mapping_bytes),
                    // It did not look a last time how much of its large mappings is touched.
                    image.has_sparse && !image.finished ? "at least " : "",
                    format_bytes(static_cast<double>(image.together_peak_bytes)));
  }
  if (image.uncertainty_bytes() > 0) {
    const std::string why = image.finished       ? format_count(image.threads, "thread")
                            : image.still_runs() ? "still running; the rest is not recorded"
                                                 : "ended abruptly, by a signal or exit_group";
    text += fmt::format(" (peak and live within {}: {})",
                        format_bytes(static_cast<double>(image.uncertainty_bytes())), why);
  }
  if (image.lost > 0) text += fmt::format(", {} events or blocks of events lost", image.lost);
  return text;
}

std::string name_of(const RecordedImage& image) {
  return escape_terminal(fmt::format("{} {} [{}]", image.file ? image.file->string() : "counted",
                                     image.counters.program, image.counters.pid));
}

std::int64_t size_of_image(const RecordedImage& image) {
  return image.counters.size_bytes();
}

void tell_line(const std::string& line) {
  say(fitted_to(STDERR_FILENO, line));
}

/// On stderr: stdout is the command's. A shell's many images are told by their largest.
void tell(const RecordResult& result) {
  constexpr std::size_t kTold = 3;
  std::vector<RecordedImage> told = result.images;
  const bool many = told.size() > kMostBeside;
  if (many) {
    std::ranges::stable_sort(told, std::ranges::greater(), size_of_image);
    told.resize(kTold);
  }
  for (const RecordedImage& image : told)
    tell_line(fmt::format("memduel: {}: {}\n", name_of(image), counters_of(image.counters)));
  if (many)
    tell_line(fmt::format("memduel: and {} more processes of at most {} each\n",
                          result.images.size() - kTold,
                          format_bytes(static_cast<double>(size_of_image(told.back())))));
  if (told.size() > 1) {
    const RecordedImage& largest = *std::ranges::max_element(told, {}, size_of_image);
    tell_line(fmt::format("memduel: the largest of {} processes {}: {}, {}\n", result.images.size(),
                          kLargestBy, name_of(largest),
                          format_bytes(static_cast<double>(size_of_image(largest)))));
  }
  for (const std::string& note : result.notes)
    tell_line(fmt::format("memduel: {}\n", escape_terminal_lines(note)));
}

[[noreturn]] void refuse(const std::string& option, const RecordArguments& arguments,
                         const std::string& why) {
  throw Error(ExitCode::usage,
              fmt::format("{} is not supported by {}: {}", option, arguments.tracer, why),
              "--profiler " + arguments.tracer, "omit it, or use --profiler recorder");
}

/// What has a meaning for the recorder alone, or only for tracers that sample.
void refuse_foreign_options(const RecordArguments& arguments, const TracerEntry& entry) {
  if (arguments.count) refuse("--count", arguments, "only the recorder counts without stacks");
  if (arguments.alone) refuse("--alone", arguments, "its child processes write their own files");
  if (arguments.debuginfod)
    refuse("--debuginfod", arguments, "its files are symbolized when they are read");
  if (!arguments.snapshot_at.empty())
    refuse("--snapshot-at", arguments, "only the recorder takes snapshots");
  if (entry.samples) return;
  const char* const why = "it records every allocation";
  if (arguments.exact) refuse("--exact", arguments, why);
  if (arguments.interval) refuse("--interval", arguments, why);
}

int record_by_another(const RecordArguments& arguments) {
  const TracerEntry& entry = tracer_named(arguments.tracer);
  refuse_foreign_options(arguments, entry);
  TracedCommand command;
  command.argv = arguments.command;
  command.options.every_allocation = arguments.exact;
  if (arguments.interval) command.options.interval_bytes = *arguments.interval;
  if (!arguments.output.empty()) command.output = arguments.output;
  const TracedResult result = trace_command(entry, command);
  for (const auto& file : result.files)
    say(fmt::format("memduel: {}\n", escape_terminal(file.string())));
  for (const std::string& note : result.notes)
    say(fmt::format("memduel: {}\n", escape_terminal_lines(note)));
  for (const auto& file : result.files)
    for (const std::string& loss : losses_in(file, file.string()))
      say(fmt::format("memduel: {}\n", escape_terminal(loss)));
  return result.status;
}

/// The peak that an earlier recording with a snapshot saw, or 0 without one.
double known_peak(const RecordArguments& arguments) {
  if (arguments.peak_from.empty()) return 0;
  const double bytes = peak_resident_bytes(open_recording(arguments.peak_from)).value_or(0);
  if (bytes > 0) return bytes;
  throw Error(ExitCode::usage, "expected a profile with a peak RSS, found none",
              arguments.peak_from, "give one that was recorded with --snapshot-at");
}

/// A recording without the snapshot that was asked for says so at once, and not only in `summary`.
void tell_absent_snapshot(const RecordArguments& arguments, const RecordResult& result) {
  if (arguments.snapshot_at.empty() || result.images.empty() ||
      std::ranges::any_of(result.images, [](const RecordedImage& image) {
        return image.snapshot_bytes.has_value();
      }))
    return;
  std::optional<double> most;
  for (const RecordedImage& image : result.images)
    if (image.peak_resident_bytes) most = std::max(most.value_or(0), *image.peak_resident_bytes);
  tell_line(fmt::format("memduel: no snapshot of resident memory: {} was never due{}\n",
                        escape_terminal(arguments.snapshot_at),
                        most ? fmt::format("; peak RSS was {}", format_bytes(*most)) : ""));
}

/// A snapshot of less than this percentage of the peak is reported.
constexpr int kExpectedPercent = 95;

/// Of the process with the largest peak: of others a snapshot is not asked for.
void tell_partial_snapshot(const SnapshotRule& rule, const RecordResult& result) {
  if (!rule.percent_of_peak || result.images.empty()) return;
  const int expected = std::min(*rule.percent_of_peak, kExpectedPercent);
  const RecordedImage& image =
      *std::ranges::max_element(result.images, {}, [](const RecordedImage& one) {
        return one.snapshot_bytes ? one.peak_resident_bytes.value_or(0) : 0;
      });
  if (!image.snapshot_bytes || image.peak_resident_bytes.value_or(0) <= 0) return;
  const double shown = 100 * *image.snapshot_bytes / *image.peak_resident_bytes;
  if (shown >= expected) return;
  tell_line(fmt::format("memduel: {}: the snapshot shows {}, {:.1f}% of the peak RSS of {}\n",
                        escape_terminal(image.file ? image.file->string() : image.counters.program),
                        format_bytes(*image.snapshot_bytes), shown,
                        format_bytes(*image.peak_resident_bytes)));
}

/// The file of -o, if there is one: neither the program nor another file that is named.
std::optional<NamedFile> output_of(const RecordArguments& arguments) {
  if (arguments.output.empty()) return std::nullopt;
  Kept kept;
  kept.inputs.assign(arguments.command.begin(), arguments.command.end());
  if (!arguments.peak_from.empty()) kept.inputs.emplace_back(arguments.peak_from);
  return NamedFile(arguments.output, kept);
}

int record(const RecordArguments& arguments) {
  const std::optional<NamedFile> output = output_of(arguments);
  if (arguments.tracer != kRecorderTracer) return record_by_another(arguments);
  RecordOptions options;
  options.argv = arguments.command;
  options.preload.mode = arguments.count   ? RecordMode::count
                         : arguments.exact ? RecordMode::exact
                                           : RecordMode::sampled;
  if (!arguments.snapshot_at.empty())
    options.preload.snapshot = snapshot_rule_from(arguments.snapshot_at, known_peak(arguments));
  if (arguments.interval) {
    options.preload.interval_bytes = *arguments.interval;
    options.preload.first_interval_bytes = 0;
  }
  options.preload.follow = !arguments.alone;
  if (!arguments.output.empty()) options.output = arguments.output;
  options.symbols = {default_symbol_cache(), arguments.debuginfod};
  const RecordResult result = record_command(options);
  tell(result);
  tell_absent_snapshot(arguments, result);
  if (options.preload.snapshot) tell_partial_snapshot(*options.preload.snapshot, result);
  if (arguments.count && output)
    output->write(counts_json(arguments.command, result.status, result.images));
  return result.status;
}

}  // namespace

void add_record(CLI::App& app, Action& action) {
  const auto [verb, arguments] =
      add_verb(app, action, "record", "record the allocations of a command, by process", record);
  verb->group(kProfileGroup);
  set_usage(*verb, {"[OPTIONS] -- CMD [ARG]..."});
  std::vector<std::string> names;
  for (const TracerEntry& entry : tracers()) names.push_back(entry.name);
  verb->footer(
      std::string("Examples:\n") +
      "  memduel record -o train.mdp -- python3 train.py --rounds 5\n"
      "  memduel record --count -- ./server --once\n"
      "  memduel record --profiler heaptrack -o train.heaptrack.zst -- ./train\n"
      "\n"
      "NAME: " +
      fmt::format("{}; see memduel list profilers.\n", fmt::join(names, ", ")) +
      "SIZE: 65536, 512KiB, 1MiB.\n"
      "WHEN: rss=97% (of the peak), rss=900MiB, mark=ROUND, mark=ROUND/PHASE, or signal "
      "(SIGUSR2).\n"
      "\n"
      "FILE.mdp is the first process, FILE.2.mdp the second and so on; if there are more than "
      "eight, all but the first are in FILE.images. Given FILE.mdp, summary, flamegraph and "
      "export show the largest process, or that of --process N. They also read the files of "
      "other profilers.\n"
      "Exit code: the command's, 128 + signal, or 125 if memduel itself failed.");
  verb->add_option("--profiler", arguments->tracer, "record with NAME, see below")
      ->type_name("NAME")
      ->capture_default_str()
      ->group(kHowOptions);
  CLI::Option* interval =
      verb->add_option("--interval", arguments->interval,
                       fmt::format("sample an allocation per SIZE (default: {}KiB)",
                                   Preload().interval_bytes / 1024))
          ->transform(CLI::AsSizeValue(true))
          ->transform(no_sign())
          ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 62))
          ->option_text("SIZE")
          ->group(kHowOptions);
  CLI::Option* exact = verb->add_flag("--exact", arguments->exact, "record every allocation");
  CLI::Option* count =
      verb->add_flag("--count", arguments->count, "count totals and peak only, without stacks");
  exact->excludes(interval)->excludes(count)->group(kHowOptions);
  count->excludes(interval)->group(kHowOptions);
  CLI::Option* snapshot = verb->add_option("--snapshot-at", arguments->snapshot_at,
                                           "record the owner of each resident page at WHEN")
                              ->option_text("WHEN")
                              ->excludes(count)
                              ->group(kHowOptions);
  verb->add_option("--peak-from", arguments->peak_from,
                   "take the peak of rss=P% from an earlier PROFILE")
      ->option_text("PROFILE")
      ->needs(snapshot)
      ->group(kHowOptions);
  verb->add_flag("--alone", arguments->alone, "record the first process only, not its children")
      ->group(kHowOptions);
  add_output_option(*verb, arguments->output, "FILE",
                    "write the first process to FILE (default: NAME.PID.mdp)");
  verb->add_flag("--debuginfod", arguments->debuginfod,
                 "load symbols from the servers of DEBUGINFOD_URLS")
      ->group(kOutputOptions);
  verb->add_option("CMD", arguments->command, kCommandHelp)->required()->group("");
}

}  // namespace memduel::cli
