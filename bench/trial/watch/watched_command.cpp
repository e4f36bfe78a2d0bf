#include "watched_command.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <vector>

#include "trial/processes.h"
#include "util/process.h"
#include "util/spawn.h"

namespace memduel {
namespace {

std::int64_t own_largest_bytes() {
  rusage own{};
  getrusage(RUSAGE_SELF, &own);
  return max_rss_bytes_of(own);
}

}  // namespace

WatchedCommand::WatchedCommand(SupervisedProcess& process)
    : largest_before_bytes_(own_largest_bytes()) {
  const std::vector<int> descriptors = process.spawn_descriptors();
  SpawnOptions request;
  request.arguments = process.spec().argv;
  request.environment = process.marks_environment();
  request.descriptors = {{descriptors[0], STDOUT_FILENO},
                         {descriptors[1], STDERR_FILENO},
                         {descriptors[2], kMarksDescriptor}};
  // Python holds back what it prints to a file, and with it the rounds in it.
  if (descriptors[0] >= 0 && std::getenv("PYTHONUNBUFFERED") == nullptr)
    request.environment.emplace_back("PYTHONUNBUFFERED=1");
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  pid_ = start_command(request);
  process.release_descriptors();
}

void WatchedCommand::signal(int number) const {
  if (!exit_) kill(pid_, number);
}

std::optional<ExitRecord> WatchedCommand::reap() {
  int status = 0;
  rusage usage{};
  for (pid_t pid = 0; (pid = wait4(-1, &status, WNOHANG, &usage)) > 0;) {
    if (pid != pid_) continue;  // one that lost its parent
    ExitRecord record = exit_record_of(status, usage);
    // A fork's account begins with what its parent held: a smaller peak of its own is not known.
    if (record.max_rss_bytes <= largest_before_bytes_) record.max_rss_bytes = 0;
    exit_ = record;
  }
  return exit_;
}

}  // namespace memduel
