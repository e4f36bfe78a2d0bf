// The program behind google_benchmark_a.json and _b.json: one benchmark that allocates BLOCKS times
// per iteration, counted by a MemoryManager. Made with Debian's Google Benchmark 1.7.1, whose byte
// fields are garbage when there are repetitions.
//   g++ -O2 -DBLOCKS=1 google_benchmark.cpp -lbenchmark -lpthread && ./a.out
//   --benchmark_repetitions=8 \
//     --benchmark_min_time=0.01 --benchmark_format=json > google_benchmark_a.json        (_b.json:
//     -DBLOCKS=2)
#include <benchmark/benchmark.h>

#include <vector>

namespace {

std::int64_t g_count = 0;

class Counter : public benchmark::MemoryManager {
 public:
  void Start() override { g_count = 0; }
  void Stop(Result* result) override { result->num_allocs = g_count; }
};

void allocate(benchmark::State& state) {
  for (auto _ : state) {
    for (int i = 0; i < BLOCKS; ++i) {
      std::vector<char> block(65536);
      benchmark::DoNotOptimize(block.data());
      ++g_count;
    }
  }
}
BENCHMARK(allocate);

}  // namespace

int main(int argc, char** argv) {
  Counter counter;
  benchmark::RegisterMemoryManager(&counter);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
