// Benchmarks whose heap use is known, for memduel::google_benchmark.
#include <memduel/google_benchmark.h>

#include <memory>
#include <vector>

namespace {

constexpr int kBlock = 1000000;

void two_blocks_an_iteration(benchmark::State& state) {
  for ([[maybe_unused]] auto _ : state) {
    auto first = std::make_unique<char[]>(kBlock);
    auto second = std::make_unique<char[]>(kBlock);
    benchmark::DoNotOptimize(first.get());
    benchmark::DoNotOptimize(second.get());
  }
}
// As many iterations as the memory run makes at most: on a slow machine the library would choose
// two.
BENCHMARK(two_blocks_an_iteration)->Iterations(16);

std::vector<std::unique_ptr<char[]>> kept;

void keeps_a_block_an_iteration(benchmark::State& state) {
  kept.reserve(state.max_iterations);
  for ([[maybe_unused]] auto _ : state) kept.push_back(std::make_unique<char[]>(kBlock));
}
BENCHMARK(keeps_a_block_an_iteration)->Iterations(8);

}  // namespace

int main(int argc, char** argv) {
  memduel::BenchmarkMemory memory;
  benchmark::RegisterMemoryManager(&memory);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
