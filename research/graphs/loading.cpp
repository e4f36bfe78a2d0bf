// What loading a file of graphs costs, read whole and mapped: makes the file of generated traffic,
// then looks at every number of every graph in shuffled order, each way in a process of its own.
//   memduel-bench-graphs GRAPHS [DIRECTORY] [--half]      (default: the current directory)
// With --half each way once more, in a control group that allows half of the file's size.
#include <fmt/format.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "kdgat/graph_file.h"
#include "loading_cost.h"
#include "util/error.h"
#include "util/file.h"
#include "util/text.h"

namespace {

using namespace memduel;

struct Way {
  GraphLoading loading;
  const char* name;
};
constexpr std::array kWays = {Way{GraphLoading::read_all, "read_all"},
                              Way{GraphLoading::mmap, "mmap"}};

std::string end_of(const LoadingCost& cost) {
  if (WIFSIGNALED(cost.status)) return fmt::format("killed by signal {}", WTERMSIG(cost.status));
  if (cost.status != 0) return fmt::format("exit {}", WEXITSTATUS(cost.status));
  return fmt::format(
      "exit 0, open {:>8}, shuffled epoch {:>8}; anonymous {:>10}, of the file {:>10}; sum {}",
      format_seconds(cost.open_seconds), format_seconds(cost.epoch_seconds),
      format_bytes(cost.anonymous_bytes), format_bytes(cost.file_bytes), cost.sum);
}

void load_without_limit(const std::filesystem::path& path) {
  for (const Way& way : kWays) {
    const LoadingCost cost = cost_of_loading(path, way.loading);
    fmt::print("{:<9} {}\n", way.name, end_of(cost));
    if (cost.status != 0) throw Error(ExitCode::io, "a loading without limit did not end well");
  }
}

void load_within_half(const std::filesystem::path& path) {
  const auto limit = static_cast<std::int64_t>(std::filesystem::file_size(path) / 2);
  struct sysinfo machine{};
  ::sysinfo(&machine);
  fmt::print("in a control group limited to {} without swap (the machine has {} of swap)\n",
             format_bytes(static_cast<double>(limit)),
             format_bytes(static_cast<double>(machine.totalswap) * machine.mem_unit));
  for (const Way& way : kWays) {
    forget_cached(path);
    const LimitedGroup group(limit);
    const LoadingCost cost = cost_of_loading(path, way.loading, group.cgroup());
    fmt::print("{:<9} {}; the group's peak {}, killed for memory {}\n", way.name, end_of(cost),
               format_bytes(static_cast<double>(peak_bytes_of(group.cgroup()).value_or(0))),
               oom_kills_of(group.cgroup()).value_or(0));
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  const bool half = std::erase(words, "--half") > 0;
  const std::size_t graphs = words.empty() ? 0 : std::strtoull(words[0].c_str(), nullptr, 10);
  if (graphs == 0 || words.size() > 2) {
    fmt::print(stderr, "usage: memduel-bench-graphs GRAPHS [DIRECTORY] [--half]\n");
    return 2;
  }
  try {
    const ScratchDirectory scratch(words.size() > 1 ? words[1] : ".", "graphs");
    const std::filesystem::path path = scratch.path() / "graphs";
    const auto begin = std::chrono::steady_clock::now();
    write_generated_graphs(path, graphs, 1);
    const std::chrono::duration<double> made = std::chrono::steady_clock::now() - begin;
    fmt::print("{} graphs, {}, made in {}\n", graphs,
               format_bytes(static_cast<double>(std::filesystem::file_size(path))),
               format_seconds(made.count()));
    load_without_limit(path);
    if (half) load_within_half(path);
  } catch (const Error& error) {
    fmt::print(stderr, "memduel-bench-graphs: {}\n", error.message());
    return static_cast<int>(error.code());
  }
  return 0;
}
