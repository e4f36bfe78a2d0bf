#include "trace_follower.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <exception>
#include <string>
#include <system_error>

#include "util/file.h"

namespace memduel {

namespace fs = std::filesystem;

namespace {

constexpr std::chrono::milliseconds kRest{50};
constexpr std::uintmax_t kLeastBytes = 1U << 20;  ///< less takes no time at the end
constexpr std::size_t kMostFiles = 16;  ///< each has the live blocks of a process in memory
constexpr std::size_t kMostAtOnce = 8U << 20;
constexpr std::uintmax_t kMostBytes = std::uintmax_t{2}
                                      << 30;  ///< of all: packed, they are in memory
constexpr int kNice = 10;

}  // namespace

TraceFollower::TraceFollower(fs::path directory) : directory_(std::move(directory)) {
  // Signals are for the thread that waits for the command.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error&) {  // no more threads: all is replayed at the end
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

TraceFollower::~TraceFollower() {
  stop();
}

void TraceFollower::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

FollowedTrace TraceFollower::release(const fs::path& file) {
  const auto found = traces_.find(file);
  return found == traces_.end() ? FollowedTrace() : std::move(found->second);
}

void TraceFollower::run() {
  setpriority(PRIO_PROCESS, 0, kNice);  // of this thread alone, in Linux
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, kRest, [this] { return stopped_; })) {
    lock.unlock();
    look();
    lock.lock();
  }
}

void TraceFollower::look() {
  std::error_code gone;
  for (fs::directory_iterator each(directory_, gone), end; !gone && each != end;
       each.increment(gone)) {
    const fs::path file = each->path();
    if (file.extension() != ".mdp") continue;
    std::error_code unknown;
    const std::uintmax_t size = each->file_size(unknown);
    if (unknown) continue;
    if (traces_.contains(file) || (size >= kLeastBytes && traces_.size() < kMostFiles))
      follow(file, size);
  }
}

void TraceFollower::follow(const fs::path& file, std::uintmax_t size) {
  FollowedTrace& trace = traces_[file];
  if (!trace.finisher && trace.taken > 0) return;  // given up
  if (followed_bytes_ >= kMostBytes) return;  // the rest is replayed when the command has ended
  try {
    if (!trace.finisher) trace.finisher = std::make_unique<ProfileFinisher>(file.string());
    // Other users may write to a directory that root records into: no link, no pipe that never
    // ends.
    const Descriptor recorded(open(file.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    std::string bytes;
    std::size_t taken = 1;
    while (taken > 0 && trace.taken < size) {
      bytes.resize(std::min<std::uintmax_t>(kMostAtOnce, size - trace.taken));
      const ssize_t got =
          pread(recorded.get(), bytes.data(), bytes.size(), static_cast<off_t>(trace.taken));
      bytes.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
      taken = trace.finisher->take(bytes);
      trace.taken += taken;
      followed_bytes_ += taken;
    }
  } catch (const std::exception&) {  // it is replayed at the end, which reports what is wrong
    trace = {nullptr, 1};
  }
}

}  // namespace memduel
