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

void nothing(benchmark::State& state) {
  for ([[maybe_unused]] auto _ : state) benchmark::ClobberMemory();
}
BENCHMARK(nothing);

// Each on its own way from the library to the program.
void a_small_block_of(benchmark::State& state, std::size_t bytes) {
  for ([[maybe_unused]] auto _ : state) {
    auto block = std::make_unique<char[]>(bytes);
    benchmark::DoNotOptimize(block.get());
  }
}
void a_small_block(benchmark::State& state) {
  a_small_block_of(state, 100);
}
BENCHMARK(a_small_block)
    ->ArgsProduct({{1}, {2}, {3}})
    ->ArgNames({"first", "second", "third"})
    ->Iterations(16);
BENCHMARK_CAPTURE(a_small_block_of, called_by_a_name_that_is_too_long_for_a_short_string, 100)
    ->Iterations(16);

class Prepared : public benchmark::Fixture {};
BENCHMARK_DEFINE_F(Prepared, a_small_block)(benchmark::State& state) {
  a_small_block(state);
}
BENCHMARK_REGISTER_F(Prepared, a_small_block)->Iterations(16);

}  // namespace

int main(int argc, char** argv) {
  memduel::BenchmarkMemory memory;
  benchmark::RegisterMemoryManager(&memory);
  const auto bytes = std::make_unique<std::size_t>(100);
  benchmark::RegisterBenchmark("a_small_block_of_a_lambda", [&](benchmark::State& state) {
    a_small_block_of(state, *bytes);
  })->Iterations(16);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
