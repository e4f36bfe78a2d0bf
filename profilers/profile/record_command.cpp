#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "profile/recorded_files.h"
#include "profile/recording.h"
#include "trace_follower.h"
#include "util/error.h"
#include "util/file.h"
#include "util/process.h"
#include "util/spawn.h"

namespace memduel {

namespace {

volatile sig_atomic_t signalled_child = 0;

/// To the command, from a handler.
void pass_on(int number) {
  kill(signalled_child, number);
}

/// A terminal sends these to the command as well.
constexpr std::array kOfTerminals = {SIGINT, SIGQUIT};
/// These come to us alone.
constexpr std::array kPassedOn = {SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};

/// The command decides what a signal means, and its profile is finished after it.
class SignalsForTheCommand {
 public:
  /// None arrives until there is a command, for it would end us alone.
  SignalsForTheCommand() {
    sigset_t held;
    sigemptyset(&held);
    for (const int number : kOfTerminals) sigaddset(&held, number);
    for (const int number : kPassedOn) sigaddset(&held, number);
    sigprocmask(SIG_BLOCK, &held, &blocked_before_);
  }
  ~SignalsForTheCommand() {
    for (const auto& [number, handler] : before_) std::signal(number, handler);
    let_arrive();
  }
  SignalsForTheCommand(const SignalsForTheCommand&) = delete;
  SignalsForTheCommand& operator=(const SignalsForTheCommand&) = delete;
  SignalsForTheCommand(SignalsForTheCommand&&) = delete;
  SignalsForTheCommand& operator=(SignalsForTheCommand&&) = delete;

  [[nodiscard]] const sigset_t& blocked_before() const { return blocked_before_; }
  void pass_to(pid_t child) {
    signalled_child = child;
    for (const int number : kOfTerminals) before_[number] = std::signal(number, SIG_IGN);
    for (const int number : kPassedOn) before_[number] = std::signal(number, pass_on);
    if (before_[SIGHUP] == SIG_IGN) std::signal(SIGHUP, SIG_IGN);  // under nohup
    let_arrive();
  }

 private:
  void let_arrive() const { sigprocmask(SIG_SETMASK, &blocked_before_, nullptr); }

  sigset_t blocked_before_{};
  std::map<int, void (*)(int)> before_;
};

}  // namespace

std::filesystem::path find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return name;
  return resolve_program(name, ".", own_path()).value_or(std::filesystem::path());
}

int run_command(const std::vector<std::string>& argv,
                const std::map<std::string, std::string>& environment) {
  SignalsForTheCommand signals;
  SpawnOptions options;
  options.arguments = argv;
  for (const auto& [name, value] : environment) options.environment.push_back(name + "=" + value);
  options.blocked = &signals.blocked_before();
  const pid_t child = start_command(options);
  signals.pass_to(child);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

namespace {

namespace fs = std::filesystem;

/// An image that could not make its file counts all the same.
std::string without_profiles(const RecordedImages& recorded, const fs::path& directory) {
  const auto counted = std::ranges::count_if(recorded.images, [](const RecordedImage& image) {
    return !image.file && image.counters.mode == "count";
  });
  if (counted == 0) return "";
  return fmt::format(
      "{} of {} could not write a profile in {}, so only their counters exist; check "
      "whether its file system is full (df, df -i)",
      counted, format_count(recorded.images.size(), "process", "processes"), directory.string());
}

}  // namespace

RecordResult record_command(const RecordOptions& options) {
  if (options.argv.empty()) throw Error(ExitCode::usage, kNoCommand);
  const fs::path program = find_program(options.argv[0]);
  if (options.output && (fs::is_directory(*options.output) || !options.output->has_filename()))
    throw Error(ExitCode::usage, "expected the name of a file, found a directory",
                options.output->string(), "-o train.mdp");
  RecordResult result;
  ImageFiles files(options.output, fs::path(options.argv[0]).filename().string());
  const std::string obstacle = program.empty() ? "" : obstacle_to_recording(program);
  const fs::path beside = files.workplace();
  for (const fs::path& left : abandoned_scratch(beside, kRecordScratch))
    result.notes.push_back(left.string() +
                           " is left over from a recording that was killed; delete it when its "
                           "command has ended");
  const ScratchDirectory workplace(beside, kRecordScratch);
  admit_other_users(workplace.path());
  std::optional<TraceFollower> follower;
  if (options.preload.mode == RecordMode::exact && !options.preload.snapshot)
    follower.emplace(workplace.path());
  if (obstacle.empty()) {
    const char* others = std::getenv("LD_PRELOAD");
    result.status = run_command(
        options.argv,
        recording_environment(options.preload, workplace.path(), others == nullptr ? "" : others));
  } else {
    result.status = run_command(options.argv, {});
    result.notes.push_back(fmt::format(
        "{} was not recorded: {}{}", program.string(), obstacle,
        obstacle == kStaticGo ? "; to see inside its heap, " + to_see_go_heap() : std::string()));
  }
  if (follower) follower->stop();
  std::error_code unreadable;
  if (!fs::exists(workplace.path(), unreadable)) {
    result.notes.push_back(workplace.path().string() +
                           " is gone, and the recording with it: the command removed it");
    return result;
  }
  const KeepImages keep = {
      [&](const ImagePlan& plan, std::size_t number) { return files.file_of(plan, number); },
      [&](const ImagePlan& plan, std::size_t number, std::string_view bytes) {
        return files.keep(plan, number, bytes);
      }};
  RecordedImages recorded =
      finish_images(workplace.path(), keep, options.symbols, follower ? &*follower : nullptr);
  if (options.preload.mode != RecordMode::count) {
    if (std::string why = without_profiles(recorded, beside); !why.empty())
      result.notes.push_back(std::move(why));
  }
  const bool left_nothing = recorded.images.empty() && recorded.unreadable.empty();
  result.images = std::move(recorded.images);
  for (std::string& why : recorded.unreadable) result.notes.push_back(std::move(why));
  for (std::string& what : files.finish(result.images)) result.notes.push_back(std::move(what));
  if (options.preload.mode != RecordMode::count && obstacle.empty() &&
      ::dlsym(RTLD_DEFAULT, "_dl_find_object") == nullptr)
    result.notes.emplace_back(
        "stacks are one frame deep: glibc finds a program's parts without a lock "
        "only since version 2.35");
  for (const RecordedImage& image : result.images) {
    if (image.counters.shut_out)
      result.notes.push_back(fmt::format(
          "{} [{}] started another program as a user who may not write to {}: that program was not "
          "recorded; use -o with a directory that all users may enter",
          image.counters.program, image.counters.pid, beside.string()));
    if (!image.counters.left_behind) continue;
    result.notes.push_back(fmt::format(
        "{} [{}] started another program with its own environment, as env -i does: that "
        "program was not recorded",
        image.counters.program, image.counters.pid));
  }
  if (left_nothing && obstacle.empty()) {
    result.notes.push_back(fmt::format(
        "{} was not recorded: it never started a dynamically linked program, or it cannot write to "
        "the directory {}",
        options.argv[0], beside.string()));
  }
  return result;
}

std::string counts_json(const std::vector<std::string>& command, int status,
                        const std::vector<RecordedImage>& images) {
  nlohmann::json json{{"schema", "memduel.counts/1"},
                      {"command", command},
                      {"status", status},
                      {"images", nlohmann::json::array()}};
  for (const RecordedImage& image : images) {
    const HeapCounters& counters = image.counters;
    json["images"].push_back({{"program", counters.program},
                              {"pid", counters.pid},
                              {"ended_by_itself", counters.finished},
                              {"peak_bytes", counters.peak_bytes},
                              {"live_at_end_bytes", counters.live_bytes},
                              {"allocated_bytes", counters.allocated_bytes},
                              {"allocation_count", counters.allocations},
                              {"mapping_peak_bytes", counters.mapping_peak_bytes},
                              {"heap_and_mapped_peak_bytes", counters.together_peak_bytes},
                              {"heap_and_mapped_is_sampled", counters.has_sparse},
                              {"exact_within_bytes", counters.uncertainty_bytes()}});
  }
  // Arguments and names of programs may be any bytes.
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace memduel
