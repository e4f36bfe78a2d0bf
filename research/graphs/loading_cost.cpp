#include "loading_cost.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <system_error>

#include "data/random.h"
#include "memory/proc_files.h"
#include "util/error.h"
#include "util/file.h"

namespace memduel {

LimitedGroup::LimitedGroup(std::int64_t bytes)
    : group_(create_cgroup("memduel-limited-" + std::to_string(getpid()))) {
  const int error = limit_cgroup(group_, bytes);
  if (error == 0) return;
  remove_cgroup(group_);
  throw Error(ExitCode::cannot_measure,
              group_.memory_dir.empty()
                  ? "cannot make a control group with a memory controller"
                  : "cannot limit its memory: " + std::generic_category().message(error),
              group_.memory_dir, "run it as root, in a group that may have groups below it");
}

LimitedGroup::~LimitedGroup() {
  remove_cgroup(group_);
}

namespace {

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

LoadingCost load_and_shuffle(const std::filesystem::path& path, GraphLoading loading) {
  LoadingCost cost;
  const ProcessMemory before = process_memory(kSelf).value();
  auto begin = std::chrono::steady_clock::now();
  const auto store = open_graphs(path, loading);
  cost.open_seconds = seconds_since(begin);
  begin = std::chrono::steady_clock::now();
  RandomEngine engine(1);
  for (const std::size_t i : random_order(store->size(), engine)) {
    const GraphView graph = store->graph(i);
    for (const float number : graph.node_features) cost.sum += number;
    for (const float number : graph.edge_features) cost.sum += number;
  }
  cost.epoch_seconds = seconds_since(begin);
  const ProcessMemory after = process_memory(kSelf).value();
  cost.anonymous_bytes = static_cast<double>(after.rss_anon.value() - before.rss_anon.value());
  cost.file_bytes = static_cast<double>(after.rss_file.value() - before.rss_file.value());
  return cost;
}

/// What the child does: its exit status.
int report_loading(const std::filesystem::path& path, GraphLoading loading,
                   const TrialCgroup& group, int report) {
  try {
    if (const int error = join_cgroup(group))
      throw Error(ExitCode::io, "cannot join: " + std::generic_category().message(error),
                  group.memory_dir);
    const LoadingCost cost = load_and_shuffle(path, loading);
    return ::write(report, &cost, sizeof cost) == sizeof cost ? 0 : 1;
  } catch (const Error& error) {
    fmt::print(stderr, "{}\n", error.message());
    return static_cast<int>(error.code());
  }
}

}  // namespace

LoadingCost cost_of_loading(const std::filesystem::path& path, GraphLoading loading,
                            const TrialCgroup& group) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw Error(ExitCode::io, "cannot make a pipe");
  const Descriptor reader(ends[0]);
  Descriptor writer(ends[1]);
  std::fflush(stdout);
  const pid_t child = ::fork();
  if (child < 0) throw Error(ExitCode::io, "cannot fork");
  if (child == 0) ::_exit(report_loading(path, loading, group, writer.get()));
  writer.reset();
  LoadingCost cost;
  const ssize_t got = ::read(reader.get(), &cost, sizeof cost);
  ::waitpid(child, &cost.status, 0);
  if (cost.status == 0 && got != sizeof cost)
    throw Error(ExitCode::io, "the loading process ended without a report", path.string());
  return cost;
}

void forget_cached(const std::filesystem::path& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file || ::fsync(file.get()) != 0 ||
      ::posix_fadvise(file.get(), 0, 0, POSIX_FADV_DONTNEED) != 0)
    throw Error(ExitCode::io, "cannot write it out of memory", path.string());
}

}  // namespace memduel
