// memduel watch: a process tree while it runs, drawn live at the bottom of a terminal, and the run
// that it leaves.

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/print.h"
#include "cli/program.h"
#include "cli/verbs.h"
#include "duel.h"
#include "gate_options.h"
#include "model/run_directory.h"
#include "named_file.h"
#include "reports/terminal.h"
#include "reports/watch_metrics.h"
#include "run/run.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/file.h"
#include "util/text.h"
#include "verdict/results.h"

namespace memduel::cli {

/// On standard error.
class LiveBlock {
 public:
  LiveBlock() = default;
  LiveBlock(const LiveBlock&) = delete;
  LiveBlock& operator=(const LiveBlock&) = delete;
  ~LiveBlock() { erase(); }

  void draw(const std::vector<std::string>& lines);
  /// A line of its own above the block.
  void say(const std::string& line);
  /// Bytes for a descriptor of ours. Those for a terminal wait until their line is whole.
  void write(int target, std::string_view bytes);
  /// Lines that never became whole.
  void flush();
  void erase();

 private:
  void redraw() const;

  std::vector<std::string> lines_;
  std::map<int, std::string> unfinished_;  ///< by target
};

/// Columns of the terminal on standard error, at most 80; 80 where it does not say.
int live_columns();

/// All of `bytes`, or as many as a reader that goes away takes.

namespace {

constexpr int kMostColumns = 80;
/// Of a line that is never finished.
constexpr std::size_t kLongestHeld = 4096;

}  // namespace

int live_columns() {
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kMostColumns;
  return std::min<int>(kMostColumns, size.ws_col);
}

void LiveBlock::erase() {
  if (lines_.empty()) return;
  const std::string up = lines_.size() > 1 ? fmt::format("\033[{}A", lines_.size() - 1) : "";
  write_all(STDERR_FILENO, "\r" + up + "\033[J");
  lines_.clear();
}

void LiveBlock::redraw() const {
  std::string text;
  for (const std::string& line : lines_) text += (text.empty() ? "" : "\n") + line;
  write_all(STDERR_FILENO, text);
}

void LiveBlock::draw(const std::vector<std::string>& lines) {
  erase();
  lines_ = lines;
  redraw();
}

void LiveBlock::say(const std::string& line) {
  const std::vector<std::string> lines = lines_;
  erase();
  write_all(STDERR_FILENO, line + "\n");
  draw(lines);
}

void LiveBlock::write(int target, std::string_view bytes) {
  if (::isatty(target) != 1) {
    write_all(target, bytes);
    return;
  }
  std::string& held = unfinished_[target];
  held += bytes;
  const std::size_t end = held.find_last_of("\r\n");
  std::string whole = end == std::string::npos ? "" : held.substr(0, end + 1);
  held.erase(0, whole.size());
  if (held.size() > kLongestHeld) whole += std::exchange(held, {}) + "\n";
  if (whole.empty()) return;
  const std::vector<std::string> lines = lines_;
  erase();
  write_all(target, whole);
  draw(lines);
}

void LiveBlock::flush() {
  erase();
  for (auto& [target, text] : unfinished_) write_all(target, std::exchange(text, {}));
}

namespace {

struct WatchArguments {
  std::vector<pid_t> pids;
  std::vector<std::string> command;
  std::optional<std::string> out;
  double interval = 1;
  double pss_interval = 60;
  std::optional<double> duration;
  std::optional<std::string> round_pattern;
  std::vector<std::string> logs;
  GateOptions gate;
  double warn = 85;
  double critical = 90;
  bool quiet = false;
  std::optional<std::string> metrics;
};

/// A file for Prometheus. A watch goes on if it cannot be written; each new reason is a warning.
class MetricsFile {
 public:
  MetricsFile(const std::string& file, const std::filesystem::path& directory,
              std::function<void(const std::string&)> warn)
      : file_(file, Kept{{}, directory}),
        run_(std::filesystem::absolute(directory).lexically_normal().filename().string()),
        warn_(std::move(warn)) {}

  void write(const WatchSnapshot& snapshot, std::optional<double> end = std::nullopt) {
    try {
      file_.write(watch_metrics(snapshot, run_, end));
      failure_.clear();
    } catch (const Error& error) {
      const std::string before = std::exchange(failure_, error.what());
      if (failure_ != before)
        warn_(fmt::format("warning: {}: {}", file_.path().string(), failure_));
    }
  }

 private:
  NamedFile file_;
  std::string run_;
  std::function<void(const std::string&)> warn_;
  std::string failure_;
};

/// What is seen of a watch while it goes on, on standard error.
class WatchDisplay {
 public:
  explicit WatchDisplay(bool quiet) : quiet_(quiet), terminal_(::isatty(STDERR_FILENO) == 1) {
    look_.width = live_columns();
    look_.color = terminal_ && std::getenv("NO_COLOR") == nullptr;
  }

  [[nodiscard]] bool is_live() const { return terminal_ && !quiet_; }

  void show(const WatchSnapshot& snapshot) {
    if (terminal_) return block_.draw(watch_screen(snapshot, look_));
    if (snapshot.elapsed_seconds < next_line_seconds_) return;
    constexpr double kSecondsPerMinute = 60;
    next_line_seconds_ = snapshot.elapsed_seconds + kSecondsPerMinute;
    memduel::say(fmt::format("{}\n", watch_line(snapshot)));
  }

  void say(const std::string& sentence) { block_.say("memduel: " + sentence); }
  void write(int target, std::string_view bytes) { block_.write(target, bytes); }
  void end() { block_.flush(); }

 private:
  bool quiet_;
  bool terminal_;
  TerminalOptions look_;
  LiveBlock block_;
  double next_line_seconds_ = 10;  ///< without a terminal: then each minute
};

/// "Gate all.peak_rss_bytes<=900MiB passed: …", a line for each.
std::string gates_text(const std::vector<GateResult>& gates) {
  std::string text;
  for (const GateResult& gate : gates)
    text += wrapped(
        escape_terminal(fmt::format("{} {} {}: {}", gate.advisory ? "Advisory gate" : "Gate",
                                    gate.name(), gate.word(), gate.reason)),
        2, 80);
  return text;
}

/// The command has standard output for itself. Returns what the gates ask for.
int tell_end(const WatchArguments& arguments, const WatchResult& result,
             const std::filesystem::path& directory) {
  Demands demands;
  demands.on_inconclusive = arguments.gate.inconclusive();
  const FinishedRun finished = conclude(directory, demands);
  write_outputs(directory, finished);
  const int code = arguments.gate.named.empty() ? 0 : finished.results.overall.exit_code;
  const std::string gates = gates_text(finished.results.gates);
  if (arguments.quiet) {
    if (code != 0) memduel::say(gates);
    return code;
  }
  const std::string text =
      watch_summary(result.last, 80) + gates +
      fmt::format("Report: {}\n", escape_terminal((directory / kReportFile).string()));
  arguments.command.empty() ? print(text) : memduel::say(text);
  return code;
}

WatchOptions options_for(const WatchArguments& arguments, WatchDisplay& display) {
  constexpr double kPercent = 100;
  WatchOptions options;
  options.command = arguments.command;
  options.pids = arguments.pids;
  RunOptions output;
  output.out = arguments.out;
  options.directory = output_directory(output, "watch");
  options.interval_seconds = arguments.interval;
  options.pss_interval_seconds = arguments.pss_interval;
  options.duration_seconds = arguments.duration;
  options.round_pattern = arguments.round_pattern;
  options.gates = arguments.gate.named;
  options.logs.assign(arguments.logs.begin(), arguments.logs.end());
  options.warn_ratio = arguments.warn / kPercent;
  options.critical_ratio = arguments.critical / kPercent;
  // Two writers on one terminal would overwrite each other.
  options.captures_output = display.is_live() && !arguments.command.empty();
  options.pass_on = [&display](int target, std::string_view bytes) {
    display.write(target, bytes);
  };
  constexpr double kLinesSeconds = 10;
  if (!arguments.quiet)
    options.show = [&display](const WatchSnapshot& snapshot) { display.show(snapshot); };
  options.show_interval_seconds = display.is_live() ? 1 : kLinesSeconds;
  options.say = [&display](const std::string& sentence) { display.say(sentence); };
  return options;
}

int watch_and_conclude(const WatchArguments& arguments) {
  if (arguments.gate.on_inconclusive && arguments.gate.named.empty())
    throw Error(ExitCode::usage, "no gate decides the exit code", "--on-inconclusive",
                "name a gate with --gate");
  WatchDisplay display(arguments.quiet);
  WatchOptions options = options_for(arguments, display);
  std::optional<MetricsFile> metrics;
  if (arguments.metrics) {
    metrics.emplace(*arguments.metrics, options.directory, options.say);
    options.publish = [&](const WatchSnapshot& snapshot) { metrics->write(snapshot); };
  }
  const WatchResult result = watch(options);
  if (metrics) metrics->write(result.last, static_cast<double>(clock_ns(CLOCK_REALTIME)) * 1e-9);
  display.end();
  const int of_gates = tell_end(arguments, result, options.directory);
  return result.status != 0 ? result.status : of_gates;
}

void add_times(CLI::App& verb, WatchArguments& arguments) {
  const auto add = [&](const char* name, auto& value, const char* type, const char* help) {
    verb.add_option(name, value, help)->option_text(type)->group("Sampling and warnings");
  };
  add("--interval", arguments.interval, "S", "sample RSS every S seconds (default: 1)");
  add("--pss-interval", arguments.pss_interval, "S", "read PSS every S seconds (default: 60)");
  add("--warn", arguments.warn, "P", "warn at P% of the memory limit (default: 85)");
  add("--critical", arguments.critical, "P", "warn again at P%, as critical (default: 90)");
}

}  // namespace

void add_watch(CLI::App& app, Action& action) {
  const auto [verb, arguments] = add_verb(
      app, action, "watch", "watch a job: RSS, PSS and growth per round", watch_and_conclude);
  verb->group(kCompareGroup);
  set_usage(*verb, {"[OPTIONS] -- CMD [ARG]...", "--pid PID... [OPTIONS]"});
  verb->footer(
      "Examples:\n"
      "  memduel watch --round-pattern 'Round (\\d+)' -- python3 server.py\n"
      "  memduel watch --pid 812 --log server.log --round-pattern 'Round (\\d+)'\n"
      "  memduel watch --pid $(pgrep -f fl_server) --duration 3600 --out runs/night\n"
      "  memduel watch --gate 'all.peak_rss_bytes<=900MiB' -- make -j8\n"
      "\n"
      "REGEX: its first group, or (?<round>...), is the number of the round. Lines are those of "
      "the command's output, or of --log; a log may be rotated, or created later.\n"
      "GATE: ROLE.METRIC<=LIMIT, judged at the end of the watch.\n"
      "WHEN: an inconclusive gate exits with 5 if its estimate is beyond the limit (beyond), "
      "always (fail) or never (pass).\n"
      "P is a share of the cgroup's memory limit, else of the machine's memory.\n"
      "\n"
      "The run has one variant; memduel report and memduel compare read it. See "
      "docs/long-runs.md.\n"
      "Exit code: the command's, 128 + signal, or 125 if memduel itself failed; with --pid, 0 "
      "at the end of all processes or of the duration, 130 by Ctrl-C, 143 by SIGTERM. Instead "
      "of 0: 1 if a gate failed, 3 if a gate was not measured, 5 if one is inconclusive.");
  verb->add_option("CMD", arguments->command, kCommandHelp)->group("");
  verb->add_option("--pid", arguments->pids, "watch these processes and their descendants")
      ->option_text("PID...")
      ->group(kWhatOptions)
      ->check([](const std::string& word) {
        pid_t pid = 0;
        const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), pid);
        const bool is_number = error == std::errc{} && end == word.data() + word.size();
        return is_number ? std::string()
                         : fmt::format("expected the number of a process, found \"{}\"", word);
      });
  verb->add_option("--duration", arguments->duration,
                   "end after S seconds, with --pid (default: no limit)")
      ->option_text("S")
      ->group(kWhatOptions);
  verb->add_option("--round-pattern", arguments->round_pattern,
                   "begin a round at each line that matches")
      ->option_text("REGEX")
      ->group(kWhatOptions);
  verb->add_option("--log", arguments->logs, "match lines of these files, not of the output")
      ->option_text("FILE...")
      ->group(kWhatOptions);
  add_times(*verb, *arguments);
  add_gates(*verb, arguments->gate);
  add_on_inconclusive(*verb, arguments->gate);
  add_out(*verb, arguments->out);
  verb->add_option("--metrics", arguments->metrics,
                   "write gauges for Prometheus to FILE every 10 s")
      ->type_name("FILE")
      ->group(kOutputOptions);
  verb->add_flag("--quiet", arguments->quiet, "print warnings only")->group(kOutputOptions);
}

}  // namespace memduel::cli
