#include "allocator_check.h"

#include <fmt/format.h>

#include <filesystem>
#include <map>

#include "profile/recording.h"
#include "util/file.h"
#include "util/process.h"

namespace memduel {
namespace {

namespace fs = std::filesystem;

bool is_libc(const std::string& file) {
  const std::string name = fs::path(file).filename().string();
  return name.starts_with("libc.so.") || name.starts_with("libc-2.");
}

/// Libraries are known by another path through links: libmimalloc.so.2 is libmimalloc.so.2.0.
std::string real_name(const fs::path& library) {
  std::error_code error;
  const fs::path real = fs::canonical(library, error);
  return (error ? library : real).filename().string();
}

bool is_required(const RequiredAllocator& required, const std::string& provider) {
  if (required.library.empty()) return is_libc(provider);
  return real_name(provider) == real_name(required.library);
}

/// What keeps a preload out of each program, asked once.
class Obstacles {
 public:
  explicit Obstacles(std::string path) : path_(std::move(path)) {}

  const std::string& of(const std::string& program) {
    const auto [known, is_new] = known_.try_emplace(program);
    if (is_new)
      known->second = obstacle_to_recording(resolve_program(program, "", path_).value_or(program));
    return known->second;
  }

 private:
  std::string path_;
  std::map<std::string, std::string> known_;
};

/// Why the last image of a process said nothing.
std::string why_silent(const std::string& program, bool cleaned, Obstacles& obstacles) {
  if (const std::string& obstacle = obstacles.of(program); !obstacle.empty())
    return fmt::format("{}: {}", program, obstacle);
  if (cleaned) return program + ": LD_PRELOAD or MEMDUEL_WITNESS was removed from its environment";
  return program + " did not load the library in LD_PRELOAD";
}

/// The images that the witness was in, each with its malloc; empty when all are as required.
std::string wrong_provider(const RequiredAllocator& required, const WitnessLog& log, pid_t own) {
  for (const WitnessedImage& image : log.images) {
    if (is_required(required, image.provider)) continue;
    return fmt::format("malloc of {}{} comes from {}", image.pid == own ? "" : "its descendant ",
                       image.program, image.provider);
  }
  return {};
}

}  // namespace

AllocatorFindings judge_allocator(const RequiredAllocator& required, const OwnProcess& own,
                                  const WitnessLog& log) {
  AllocatorFindings findings;
  Obstacles obstacles(own.path);
  const auto fail = [&](const std::string& why) {
    if (findings.failure.empty())
      findings.failure = fmt::format("did not run under {}: {}", required.name, why);
  };
  if (const std::string wrong = wrong_provider(required, log, own.pid); !wrong.empty()) fail(wrong);
  for (const SilentImage& image : log.silent) {
    if (image.pid == own.pid) continue;
    const std::string why = why_silent(image.program, image.cleaned, obstacles);
    if (image.cleaned && obstacles.of(image.program).empty())
      fail("its descendant " + why);
    else
      findings.helpers.insert(why);
  }
  const WitnessedImage* last = log.last_of(own.pid);
  if (last == nullptr) {
    const SilentImage* silent = log.silent_of(own.pid);
    fail(silent == nullptr ? why_silent(own.program, false, obstacles)
                           : why_silent(silent->program, silent->cleaned, obstacles));
  }
  if (findings.failure.empty()) findings.library = last->provider;
  return findings;
}

namespace {

OwnProcess own_process(const SupervisedProcess& process, const TrialPlan& plan) {
  const ProcessSpec& spec = process.spec();
  OwnProcess own{process.pid, spec.argv.front(), {}};
  if (own.program.find('/') != std::string::npos)
    own.program = ((spec.cwd.empty() ? plan.trial_dir : spec.cwd) / own.program).lexically_normal();
  own.path = path_of(spec);
  return own;
}

}  // namespace

void verify_allocators(const TrialPlan& plan, const TrialProcesses& processes,
                       TrialOutcome& outcome) {
  for (const SupervisedProcess& process : processes.started()) {
    const auto& required = process.spec().allocator;
    if (!required || process.pid == 0) continue;
    const WitnessLog log = read_witness_log(read_file(required->witness));
    const AllocatorFindings findings = judge_allocator(*required, own_process(process, plan), log);
    if (!findings.failure.empty())
      outcome.fail(fmt::format("{} {}", process.role(), findings.failure));
    else
      outcome.allocators[process.role()] = findings.library;
    for (const std::string& helper : findings.helpers)
      outcome.limitations.push_back(
          {"helper_without_allocator",
           fmt::format("a helper of {} ran without {}: {}", process.role(), required->name, helper),
           "the numbers of the role include its memory; if it does the main work, link it "
           "dynamically"});
  }
}

}  // namespace memduel
