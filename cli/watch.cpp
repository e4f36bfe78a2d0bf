// memduel watch: a process tree while it runs, and the run that it leaves.
#include "experiment/watch/watch.h"

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>

#include "base/characters.h"
#include "base/error.h"
#include "base/run_directory.h"
#include "base/standard_error.h"
#include "cli/duel.h"
#include "cli/help.h"
#include "cli/live_block.h"
#include "cli/print.h"
#include "cli/verbs.h"
#include "reports/formats/watch_view.h"

namespace memduel::cli {
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
  double warn = 85;
  double critical = 90;
  bool quiet = false;
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

/// The command has standard output for itself.
void tell_end(const WatchArguments& arguments, const WatchResult& result,
              const std::filesystem::path& directory) {
  write_outputs(directory, conclude(directory));
  if (arguments.quiet) return;
  const std::string text =
      watch_summary(result.last, 80) +
      fmt::format("report: {}\n", escape_terminal((directory / kReportFile).string()));
  if (arguments.command.empty()) return print(text);
  memduel::say(text);
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
  WatchDisplay display(arguments.quiet);
  const WatchOptions options = options_for(arguments, display);
  const WatchResult result = watch(options);
  display.end();
  tell_end(arguments, result, options.directory);
  return result.status;
}

void add_times(CLI::App& verb, WatchArguments& arguments) {
  verb.add_option("--interval", arguments.interval, "between two samples of RSS")
      ->option_text("SECONDS (default 1)");
  verb.add_option("--pss-interval", arguments.pss_interval,
                  "between two readings of PSS, which cost milliseconds for each process")
      ->option_text("SECONDS (default 60)");
  verb.add_option("--duration", arguments.duration, "end the watch of --pid after so long")
      ->option_text("SECONDS");
}

}  // namespace

void add_watch(CLI::App& app, Action& action) {
  const auto [verb, arguments] = add_verb(
      app, action, "watch", "watch a running job: RSS, PSS, growth per round and where it leads",
      watch_and_conclude);
  verb->group("Compare");
  verb->footer(
      "Examples:\n"
      "  memduel watch --round-pattern 'Round (\\d+)' -- python3 server.py\n"
      "  memduel watch --pid 812 --log server.log --round-pattern 'Round (\\d+)'\n"
      "  memduel watch --pid $(pgrep -f fl_server) --duration 3600 --out runs/night\n"
      "\n"
      "Leaves a run of one arm that report and compare take. With -- CMD it returns\n"
      "the command's status (128 + signal), 125 when memduel itself failed. With\n"
      "--pid it ends when all have ended or the duration is over (0), or by Ctrl-C\n"
      "(130; by SIGTERM 143): the run is there in all cases. See docs/long-runs.md.");
  verb->add_option("--pid", arguments->pids,
                   "processes that run already; their descendants belong to them")
      ->option_text("PID...")
      ->check([](const std::string& word) {
        pid_t pid = 0;
        const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), pid);
        const bool is_number = error == std::errc{} && end == word.data() + word.size();
        return is_number ? std::string()
                         : fmt::format("found \"{}\", expected the number of a process", word);
      });
  verb->add_option("--out", arguments->out, "the run directory (default: runs/watch-TIME)")
      ->type_name("DIR");
  verb->add_option("--round-pattern", arguments->round_pattern,
                   "which lines begin a round, on the command's output or in --log: the first "
                   "group, or (?<round>…), is its number")
      ->option_text("REGEX");
  verb->add_option("--log", arguments->logs,
                   "a file that the job logs to; it may be rotated, or come later")
      ->option_text("FILE...");
  add_times(*verb, *arguments);
  verb->add_option("--warn", arguments->warn,
                   "warn when so much of the control group's limit, or else of the machine's "
                   "memory, is used")
      ->option_text("PERCENT (default 85)");
  verb->add_option("--critical", arguments->critical, "say that it is critical")
      ->option_text("PERCENT (default 90)");
  verb->add_flag("--quiet", arguments->quiet,
                 "show warnings only; without a pattern the command keeps its own output");
  verb->add_option("CMD", arguments->command, kCommandHelp);
}

}  // namespace memduel::cli
