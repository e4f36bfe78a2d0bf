#include <memduel/google_benchmark.h>

#include <vector>

static void push(benchmark::State& state) {
  for (auto _ : state) {
    std::vector<int> numbers;
    numbers.reserve(1000);
    benchmark::DoNotOptimize(numbers.data());
  }
}
BENCHMARK(push);

int main(int argc, char** argv) {
  memduel::BenchmarkMemory memory;
  benchmark::RegisterMemoryManager(&memory);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
