// What one value of a switch costs against another, alone: a state of ResNet18's size (42.7 MiB)
// copied, subtracted, serialized, sent in pieces, received, decoded and averaged; and cleanups.
// Bytes and allocations come from memduel::google_benchmark.
#include <memduel/google_benchmark.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "fl/models.h"
#include "fl/state_lifetimes.h"
#include "memduel/memory.h"
#include "optimizations/aggregation.h"
#include "optimizations/test_counted_bytes.h"
#include "support/catalog_files.h"

namespace memduel {
namespace {

const Model& resnet() {
  static const Model model = make_model("resnet18", 1);
  return model;
}

State copy_of(const State& state) {
  return make_state_snapshot("clone_detach")->take(state);
}

void count_state(benchmark::State& run) {
  run.SetBytesProcessed(run.iterations() * static_cast<std::int64_t>(state_bytes(resnet().state)));
}

void snapshot(benchmark::State& run, const std::string& value) {
  const auto taken = make_state_snapshot(value);
  for ([[maybe_unused]] auto _ : run) benchmark::DoNotOptimize(taken->take(resnet().state));
  count_state(run);
}

void pseudo_gradient(benchmark::State& run, const std::string& value) {
  const auto made = make_pseudo_gradient(value);
  for ([[maybe_unused]] auto _ : run) {
    run.PauseTiming();
    State previous = copy_of(resnet().state);  // which may be consumed
    run.ResumeTiming();
    benchmark::DoNotOptimize(made->compute(previous, resnet().state, resnet().parameters));
  }
  count_state(run);
}

constexpr std::size_t kMiB = std::size_t{1} << 20;

struct Sending {
  std::string serialize = "scoped_buffer";
  std::string framing = "metadata_then_raw";
  std::size_t piece_bytes = kMiB;
};

void send_with(benchmark::State& run, const Sending& how) {
  const auto framing = make_framing(how.framing);
  const auto serializer = make_serializer(how.serialize);
  ForgetfulCall call;
  for ([[maybe_unused]] auto _ : run) {
    CallFrame frame(Side::client);
    send(call, serializer->prepare(resnet().state, {"client-1", Status::run, ""}, *framing, frame),
         how.piece_bytes);
  }
  count_state(run);
}

void receive_with(benchmark::State& run, const std::string& receive, const std::string& decode,
                  std::size_t piece_bytes) {
  const auto framing = make_framing("metadata_then_raw");
  const auto deserializer = make_deserializer(decode);
  const auto receiver = make_receiver(receive, {*framing, *deserializer});
  const State into = copy_of(resnet().state);
  for ([[maybe_unused]] auto _ : run) {
    run.PauseTiming();
    RecordedCall call(upload_of(resnet().state, *framing), piece_bytes);
    CallFrame frame(Side::client);
    run.ResumeTiming();
    benchmark::DoNotOptimize(
        receiver->receive(call, frame, receive == "into_tensors" ? &into : nullptr));
  }
  count_state(run);
}

void aggregate(benchmark::State& run, const std::string& value) {
  const Model model = make_model("resnet18", 1);
  const auto aggregator = make_aggregator(value, model, UploadKind::weights);
  const State first = copy_of(model.state);
  const State second = copy_of(model.state);
  for ([[maybe_unused]] auto _ : run)
    benchmark::DoNotOptimize(aggregator->aggregate({{1, 0.5, &first}, {2, 0.5, &second}}));
  count_state(run);
}

/// 96 MiB of small blocks, every third kept: holes for the allocator to give back.
class HoledHeap {
 public:
  HoledHeap() {
    constexpr std::size_t kBytes = 4096;
    for (std::size_t i = 0; i < 96 * kMiB / kBytes; ++i)
      blocks_.push_back(std::make_unique<char[]>(kBytes));
    for (std::size_t i = 0; i < blocks_.size(); ++i)
      if (i % 3 != 0) blocks_[i].reset();
  }

 private:
  std::vector<std::unique_ptr<char[]>> blocks_;
};

/// As CSFL-simulator prices them: every few rounds, every ten or so, and between two methods, when
/// a method's models go.
void clean_up_after_rounds(benchmark::State& run, const std::string& value) {
  for ([[maybe_unused]] auto _ : run) {
    run.PauseTiming();
    const HoledHeap heap;
    std::vector<State> models;
    if (value == "between_methods")
      for (int i = 0; i < 2; ++i) models.push_back(copy_of(resnet().state));
    CleanupOptions options;
    options.heap = value == "light" ? HeapCleanup::give_back : HeapCleanup::purge;
    options.drop = [&models] { models.clear(); };
    run.ResumeTiming();
    benchmark::DoNotOptimize(cleanup_memory(options));
  }
}

using Body = std::function<void(benchmark::State&)>;

void add(const std::string& name, Body body) {
  benchmark::RegisterBenchmark(name.c_str(), [body = std::move(body)](benchmark::State& run) {
    body(run);
  })->Unit(benchmark::kMillisecond);
}

template <class Measure>
void add_values(const std::string& name, const std::vector<std::string>& values, Measure measure) {
  for (const std::string& value : values)
    add(name + "/" + value, [=](benchmark::State& run) { measure(run, value); });
}

/// A benchmark for each value of each switch.
void add_all() {
  add_values("state_snapshot", words_of("state_snapshot"), snapshot);
  add_values("pseudo_gradient", words_of("pseudo_gradient"), pseudo_gradient);
  add_values("serialize", words_of("serialize"),
             [](benchmark::State& run, const std::string& value) {
               send_with(run, {.serialize = value});
             });
  add_values("framing", words_of("framing"), [](benchmark::State& run, const std::string& value) {
    send_with(run, {.framing = value});
  });
  for (const std::size_t kib : {64U, 256U, 1024U, 9216U})
    add("piece_bytes/" + std::to_string(kib) + "KiB", [=](benchmark::State& run) {
      send_with(run, {.serialize = "streamed_from_tensors", .piece_bytes = kib << 10});
    });
  add_values("receive", words_of("receive"), [](benchmark::State& run, const std::string& value) {
    receive_with(run, value, "cpu_first", kMiB);
  });
  add_values("deserialize", words_of("deserialize"),
             [](benchmark::State& run, const std::string& value) {
               receive_with(run, "bytearray", value, kMiB);
             });
  add_values("aggregate", aggregate_values(), aggregate);
  add_values("cleanup", {"light", "heavy", "between_methods"}, clean_up_after_rounds);
}

}  // namespace
}  // namespace memduel

int main(int argc, char** argv) {
  memduel::add_all();
  memduel::BenchmarkMemory memory;
  benchmark::RegisterMemoryManager(&memory);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
