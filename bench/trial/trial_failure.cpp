// Why a trial failed: the ends of its processes, its deadline, the last lines of logs, and programs
// that die of a preloaded recorder.

#include "trial_failure.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <fstream>
#include <string_view>
#include <vector>

#include "trial/supervisor.h"
#include "util/text.h"

namespace memduel {

std::string log_tail(const std::filesystem::path& path, std::size_t max_lines,
                     std::size_t max_bytes) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return {};
  const auto size = static_cast<std::streamoff>(file.tellg());
  const auto take = std::min(size, static_cast<std::streamoff>(max_bytes));
  std::string text(static_cast<std::size_t>(take), '\0');
  file.seekg(size - take);
  file.read(text.data(), take);
  text.resize(static_cast<std::size_t>(file.gcount()));
  while (!text.empty() && text.back() == '\n') text.pop_back();
  std::size_t begin = text.size();
  for (std::size_t lines = 0; lines < max_lines && begin != 0; ++lines) {
    const std::size_t newline = text.rfind('\n', begin - 1);
    begin = newline == std::string::npos ? 0 : newline;
  }
  if (begin < text.size() && text[begin] == '\n') ++begin;
  text.erase(0, begin);
  for (char& byte : text) {
    const auto code = static_cast<unsigned char>(byte);
    if ((code < 0x20 && byte != '\n' && byte != '\t') || code == 0x7f) byte = '?';
  }
  return valid_utf8(text);
}

bool ended_well(const ProcessSpec& spec, const ExitRecord& exit, const ExitContext& context) {
  if (exit.signal) {
    return context.asked_to_stop && (*exit.signal == SIGTERM || *exit.signal == SIGKILL);
  }
  const auto& allowed = spec.exit_statuses;
  const bool is_allowed = std::ranges::find(allowed, *exit.status) != allowed.end();
  if (context.asked_to_stop)
    return is_allowed || context.after_last_round || *exit.status == 128 + SIGTERM;
  return is_allowed && context.was_ready;
}

std::string describe_exit(const ExitRecord& exit, const ExitContext& context) {
  const std::string round =
      context.round ? fmt::format(" in round {}", *context.round) : std::string();
  if (exit.signal == SIGKILL && context.killed_for_memory) {
    return kKilledForMemory + round;
  }
  if (exit.signal) {
    const char* meaning = sigdescr_np(*exit.signal);
    return fmt::format("was ended by signal {} ({}){}", *exit.signal,
                       meaning != nullptr ? meaning : "unknown", round);
  }
  const std::string memory =
      context.killed_for_memory ? " after the kernel killed one of its processes for memory" : "";
  if (!context.was_ready) {
    return fmt::format("exited with status {} before it was ready{}; waited for {}", *exit.status,
                       memory, context.waited_for);
  }
  return fmt::format("exited with status {}{}{}", *exit.status, round, memory);
}

namespace {

using State = SupervisedProcess::State;

/// What to do about a process that has nobody left to work for.
std::string never_ends(const std::deque<SupervisedProcess>& processes) {
  std::vector<std::string> waited_for;
  bool any_ended = false;
  for (const SupervisedProcess& process : processes) {
    any_ended = any_ended || process.state == State::ended;
    if (process.state == State::running && process.spec().end == End::wait)
      waited_for.push_back(process.role());
  }
  if (!any_ended || waited_for.empty()) return {};
  return fmt::format("\n  the others have exited; set \"end\": \"stop\" to stop {} with them",
                     fmt::join(waited_for, ", "));
}

}  // namespace

std::string describe_overrun(const TrialPlan& plan,
                             const std::deque<SupervisedProcess>& processes) {
  std::vector<std::string> there;
  for (const SupervisedProcess& process : processes) {
    if (process.state != State::ended) there.push_back(process.role());
  }
  std::string text =
      fmt::format("the trial did not end within {} s; still running: {}{}", plan.deadline_seconds,
                  fmt::join(there, ", "), never_ends(processes));
  for (const SupervisedProcess& process : processes) {
    if (process.state != State::running) continue;
    const auto silent = process.silent_seconds();
    const std::string since =
        silent ? ", silent for " + format_seconds(*silent) : ", no output at all";
    text += fmt::format("\n{}{}:{}", process.role(), since, process.last_words());
  }
  return text;
}

namespace {

/// AddressSanitizer's words since 2014 (asan_linux.cpp, AsanCheckDynamicRTPrereqs).
constexpr std::string_view kSanitizerWords = "runtime does not come first in initial library list";

std::string harm_to(const RoleData& role, const TrialPlan& plan) {
  const bool by_filter = role.exit_signal == SIGSYS || role.exit_status == 128 + SIGSYS;
  if (by_filter) return "its seccomp filter rejects a system call of the recorder";
  const std::string words = log_tail(logs_of(plan).file(role.role, "stderr"), 100, 1 << 16);
  if (words.find(kSanitizerWords) == std::string::npos) return {};
  return "it runs a program built with a sanitizer, whose interposer must come first";
}

}  // namespace

std::map<std::string, std::string> harmed_by_recorder(const TrialPlan& plan, const TrialRun& run) {
  std::map<std::string, std::string> harmed;
  if (run.trial.status != TrialStatus::failed) return harmed;
  for (const ProcessSpec& process : plan.processes) {
    if (!process.heap_dir) continue;
    for (const RoleData& role : run.trial.roles) {
      if (role.role != process.role) continue;
      if (std::string why = harm_to(role, plan); !why.empty()) harmed[role.role] = std::move(why);
    }
  }
  return harmed;
}

}  // namespace memduel
