// What loading a file of graphs costs, read whole and mapped: makes the file of generated traffic,
// then looks at every number of every graph in shuffled order, each way in a process of its own.
//   memduel-bench-graphs GRAPHS [DIRECTORY]        (default: the current directory)
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>

#include "base/error.h"
#include "base/scratch_directory.h"
#include "base/text.h"
#include "workloads/datasets/random.h"
#include "workloads/graphs/generated_graphs.h"
#include "workloads/graphs/graph_file.h"

namespace {

using namespace memduel;

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// A line of /proc/self/status, in bytes.
double resident_bytes(const std::string& key) {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (word != key + ":") continue;
    double kib = 0;
    status >> kib;
    return kib * 1024;
  }
  return 0;
}

void load_and_shuffle(const std::filesystem::path& path, GraphLoading loading, const char* name) {
  const double anonymous = resident_bytes("RssAnon");
  const double of_file = resident_bytes("RssFile");
  auto begin = std::chrono::steady_clock::now();
  const auto store = open_graphs(path, loading);
  const double open_seconds = seconds_since(begin);
  begin = std::chrono::steady_clock::now();
  RandomEngine engine(1);
  double sum = 0;
  for (const std::size_t i : random_order(store->size(), engine)) {
    const GraphView graph = store->graph(i);
    for (const float number : graph.node_features) sum += number;
    for (const float number : graph.edge_features) sum += number;
  }
  fmt::print(
      "{:<9} open {:>8}, shuffled epoch {:>8}; anonymous {:>10}, of the file {:>10}; sum {}\n",
      name, format_seconds(open_seconds), format_seconds(seconds_since(begin)),
      format_bytes(resident_bytes("RssAnon") - anonymous),
      format_bytes(resident_bytes("RssFile") - of_file), sum);
}

/// In a child, so that neither way inherits the other's memory.
void in_child(const std::filesystem::path& path, GraphLoading loading, const char* name) {
  std::fflush(stdout);
  const pid_t child = ::fork();
  if (child < 0) throw Error(ExitCode::io, "cannot fork");
  if (child == 0) {
    load_and_shuffle(path, loading, name);
    std::fflush(stdout);
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  if (status != 0) throw Error(ExitCode::io, fmt::format("{} ended with status {}", name, status));
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t graphs = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 0;
  if (graphs == 0) {
    fmt::print(stderr, "usage: memduel-bench-graphs GRAPHS [DIRECTORY]\n");
    return 2;
  }
  try {
    const ScratchDirectory scratch(argc > 2 ? argv[2] : ".", "graphs");
    const std::filesystem::path path = scratch.path() / "graphs";
    const auto begin = std::chrono::steady_clock::now();
    write_generated_graphs(path, graphs, 1);
    fmt::print("{} graphs, {}, made in {}\n", graphs,
               format_bytes(static_cast<double>(std::filesystem::file_size(path))),
               format_seconds(seconds_since(begin)));
    in_child(path, GraphLoading::read_all, "read_all");
    in_child(path, GraphLoading::mmap, "mmap");
  } catch (const Error& error) {
    fmt::print(stderr, "memduel-bench-graphs: {}\n", error.message());
    return static_cast<int>(error.code());
  }
  return 0;
}
