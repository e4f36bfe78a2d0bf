#include <array>
#include <chrono>
#include <exception>

#include "memduel/memory.h"
#include "memory/figures.h"
#include "memory/heap_cleanup.h"
#include "memory/text_file.h"

namespace memduel {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_between(Clock::time_point begin, Clock::time_point end) {
  return std::chrono::duration<double>(end - begin).count();
}

class CleanupWork {
 public:
  explicit CleanupWork(const CleanupOptions& options) : options_(options) {}

  CleanupReport done() {
    report_.allocator = allocator_type();
    if (options_.verbose) report_.before = reading();
    const auto begin = Clock::now();
    if (options_.drop) attempt("drop", options_.drop);
    clean_device_up();
    const auto heap_begin = Clock::now();
    HeapOutcome heap = clean_heap_up(options_.heap);
    const auto end = Clock::now();
    report_.seconds = seconds_between(begin, end);
    report_.heap_seconds = seconds_between(heap_begin, end);
    report_.heap = heap.action;
    report_.trim_result = heap.trim_result;
    if (!heap.note.empty()) report_.notes.push_back(std::move(heap.note));
    if (options_.verbose) report_.after = reading();
    return std::move(report_);
  }

 private:
  void attempt(const char* step, const std::function<void()>& function) {
    try {
      function();
    } catch (const std::exception& error) {
      report_.notes.push_back(std::string(step) + " failed: " + error.what());
    } catch (...) {
      report_.notes.push_back(std::string(step) + " failed");
    }
  }

  void clean_device_up() {
    DeviceMemory* device = options_.device;
    if (device == nullptr) return;
    attempt("device", [&] {
      if (std::string why = device->limitation(); !why.empty()) {
        report_.notes.push_back("device: " + std::move(why));
        return;
      }
      device->synchronize();
      if (options_.empty_device_cache) device->empty_cache();
    });
  }

  MemoryReading reading() {
    MemoryReading now;
    now.rss_bytes = sized_field(text_of("/proc/self/status"), "VmRSS");
    now.heap_held_free_bytes = allocator_state().held_free;
    if (options_.device != nullptr) {
      attempt("device", [&] {
        if (const auto device = options_.device->bytes())
          now.device_reserved_bytes = device->reserved;
      });
    }
    return now;
  }

  const CleanupOptions& options_;
  CleanupReport report_;
};

}  // namespace

const char* name_of(HeapAction action) {
  constexpr std::array<const char*, 7> kNames = {
      "left alone", "trimmed", "left to decay", "purged", "released", "collected", "nothing done"};
  return kNames.at(static_cast<std::size_t>(action));
}

std::optional<std::int64_t> CleanupReport::freed_bytes() const {
  if (!before.rss_bytes || !after.rss_bytes) return std::nullopt;
  return *before.rss_bytes - *after.rss_bytes;
}

std::string to_string(const CleanupReport& report) {
  std::string text;
  if (const auto freed = report.freed_bytes())
    text = "freed " + mebibytes(*freed) + " (RSS " + mebibytes(*report.before.rss_bytes) + " to " +
           mebibytes(*report.after.rss_bytes) + "), ";
  if (report.before.device_reserved_bytes && report.after.device_reserved_bytes)
    text += "device " + mebibytes(*report.before.device_reserved_bytes) + " to " +
            mebibytes(*report.after.device_reserved_bytes) + ", ";
  text += std::string(name_of(report.allocator)) + " " + name_of(report.heap) + ", " +
          milliseconds(report.seconds);
  for (const std::string& note : report.notes) text += "; " + note;
  return text;
}

CleanupReport cleanup_memory(const CleanupOptions& options) noexcept {
  try {
    return CleanupWork(options).done();
  } catch (...) {  // no memory for a note
    return {};
  }
}

}  // namespace memduel
