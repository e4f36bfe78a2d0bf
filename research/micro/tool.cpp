// What memduel's own work costs: the recorder on a program's way to malloc, a profile read and
// named, a duel decided, a run stored and written.
#include <memduel/google_benchmark.h>

#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "profile/outputs.h"
#include "readers/read_profile.h"
#include "run/store.h"
#include "stats/estimates.h"
#include "stats/hypothesis_tests.h"
#include "support/synthetic_run.h"
#include "util/file.h"
#include "verdict/analyse.h"
#include "verdict/result_files.h"

namespace memduel {
namespace {

// ---- the recorder's counters, on the way of every call

void malloc_and_free(benchmark::State& run) {
  const auto bytes = static_cast<std::size_t>(run.range(0));
  for ([[maybe_unused]] auto _ : run) {
    void* block = std::malloc(bytes);
    benchmark::DoNotOptimize(block);
    std::free(block);
  }
}
BENCHMARK(malloc_and_free)->Arg(16)->Arg(256)->Arg(65536);

void new_and_delete(benchmark::State& run) {
  for ([[maybe_unused]] auto _ : run) {
    auto block = std::make_unique<char[]>(64);
    benchmark::DoNotOptimize(block.get());
  }
}
BENCHMARK(new_and_delete);

// ---- statistics

std::vector<double> noise(std::size_t count, double mean, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal(mean, 1);
  std::vector<double> values(count);
  for (double& value : values) value = normal(random);
  return values;
}

void sign_flip(benchmark::State& run) {
  const auto blocks = static_cast<std::size_t>(run.range(0));
  const std::vector<double> a = noise(blocks, 200, 1);
  const std::vector<double> b = noise(blocks, 201, 2);
  for ([[maybe_unused]] auto _ : run) benchmark::DoNotOptimize(SignFlip(a, b).interval(0.05));
}
BENCHMARK(sign_flip)->Arg(8)->Arg(16)->Arg(40)->Unit(benchmark::kMicrosecond);

void hodges_lehmann(benchmark::State& run) {
  const auto blocks = static_cast<std::size_t>(run.range(0));
  const std::vector<double> a = noise(blocks, 200, 1);
  const std::vector<double> b = noise(blocks, 201, 2);
  for ([[maybe_unused]] auto _ : run) benchmark::DoNotOptimize(hodges_lehmann_shift(a, b));
}
BENCHMARK(hodges_lehmann)->Arg(8)->Arg(40)->Unit(benchmark::kMicrosecond);

// ---- a run

RunData duel(std::size_t blocks) {
  std::vector<double> a = noise(blocks, 200, 1);
  std::vector<double> b = noise(blocks, 201, 2);
  for (std::vector<double>* values : {&a, &b})
    for (double& value : *values) value *= 1 << 20;
  return make_duel("peak_rss_bytes", a, b);
}

void decide_a_duel(benchmark::State& run) {
  const RunData data = duel(static_cast<std::size_t>(run.range(0)));
  for ([[maybe_unused]] auto _ : run) benchmark::DoNotOptimize(analyse(data, {}));
}
BENCHMARK(decide_a_duel)->Arg(8)->Arg(40)->Unit(benchmark::kMicrosecond);

void write_results_json(benchmark::State& run) {
  const Results results = analyse(duel(40), {});
  for ([[maybe_unused]] auto _ : run) {
    std::size_t bytes = 0;
    write_results(results, 1, [&](std::string_view text) { bytes += text.size(); });
    benchmark::DoNotOptimize(bytes);
  }
}
BENCHMARK(write_results_json)->Unit(benchmark::kMicrosecond);

void store_a_trial(benchmark::State& run) {
  const ScratchDirectory scratch(std::filesystem::temp_directory_path(), "memduel-bench");
  RunHeader header;
  header.config = document_of_run({{"name", "bench"}});
  header.config_sha256 = "0";
  header.environment = nlohmann::json::object();
  Store store = Store::create(scratch.path() / "run", header);
  int block = 0;
  for ([[maybe_unused]] auto _ : run)
    store.add_trial(make_trial("a", ++block, "server", {{"peak_rss_bytes", 1e8}}));
}
BENCHMARK(store_a_trial)->Unit(benchmark::kMicrosecond);

// ---- a profile, of MEMDUEL_BENCH_PROFILE

std::string profile_file() {
  const char* file = std::getenv("MEMDUEL_BENCH_PROFILE");
  return file == nullptr ? std::string() : file;
}

void read_a_profile(benchmark::State& run) {
  if (profile_file().empty()) return run.SkipWithError("set MEMDUEL_BENCH_PROFILE");
  for ([[maybe_unused]] auto _ : run) benchmark::DoNotOptimize(read_profile(profile_file()));
}
BENCHMARK(read_a_profile)->Unit(benchmark::kMillisecond);

void name_and_summarize_a_profile(benchmark::State& run) {
  if (profile_file().empty()) return run.SkipWithError("set MEMDUEL_BENCH_PROFILE");
  const Profile profile = read_profile(profile_file());
  for ([[maybe_unused]] auto _ : run) benchmark::DoNotOptimize(summarize(profile));
}
BENCHMARK(name_and_summarize_a_profile)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace memduel

int main(int argc, char** argv) {
  memduel::BenchmarkMemory memory;
  benchmark::RegisterMemoryManager(&memory);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
