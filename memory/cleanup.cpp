// One cleanup, and the policy that decides when to clean up.

#include <array>
#include <chrono>
#include <exception>
#include <limits>
#include <mutex>
#include <stdexcept>

#include "allocator_control.h"
#include "figures.h"
#include "memduel/memory.h"
#include "memory/memory_limit.h"
#include "memory/proc_files.h"

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
    if (const auto memory = process_memory(kSelf)) now.rss_bytes = memory->rss;
    now.heap_free_bytes = allocator_state().held_free;
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

namespace {

void require_count(const char* name, int value) {
  if (value >= 0) return;
  throw std::invalid_argument(std::string("CleanupPolicyOptions.") + name +
                              ": expected a whole number from 0, found " + std::to_string(value));
}

CleanupPolicyOptions checked(CleanupPolicyOptions options) {
  require_count("light_every", options.light_every);
  require_count("heavy_every", options.heavy_every);
  require_count("send_every", options.send_every);
  require_count("first_round", options.first_round);
  require_count("pressure_every", options.pressure_every);
  if (options.pressure && options.pressure_every == 0)
    throw std::invalid_argument(
        "CleanupPolicyOptions.pressure_every: expected a whole number from 1 with a pressure, "
        "found 0");
  return options;
}

/// Whether a cadence has a cleanup at `count`, counted from 1.
bool is_due(int count, int every, int first) {
  if (every == 0) return false;
  const int begin = first == 0 ? every : first;
  return count >= begin && (count - begin) % every == 0;
}

MemoryAlarm alarm_of_use(const CleanupPolicyOptions& options) {
  const PressureOptions pressure =
      options.pressure ? options.pressure->options() : PressureOptions{};
  return {pressure.warn_percent / 100, pressure.critical_percent / 100};
}

MemoryAlarm alarm_of_stall(const CleanupPolicyOptions& options) {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  const PressureOptions pressure =
      options.pressure ? options.pressure->options() : PressureOptions{};
  return {pressure.stall_percent ? *pressure.stall_percent / 100 : kNever, kNever};
}

}  // namespace

class CleanupPolicy::State {
 public:
  explicit State(CleanupPolicyOptions options)
      : options_(checked(std::move(options))),
        use_(alarm_of_use(options_)),
        stall_(alarm_of_stall(options_)) {}

  std::optional<CleanupEvent> round_ended(int round) {
    const std::lock_guard lock(mutex_);
    round_ = round;
    if (look_at_pressure() == MemoryLevel::critical)
      return clean(CleanupPoint::pressure, options_.emergency, true);
    if (is_due(round, options_.heavy_every, options_.first_round))
      return clean(CleanupPoint::round, options_.heavy, true);
    if (is_due(round, options_.light_every, options_.first_round))
      return clean(CleanupPoint::round, options_.light, false);
    return std::nullopt;
  }

  std::optional<CleanupEvent> sent() {
    const std::lock_guard lock(mutex_);
    if (!is_due(++sends_, options_.send_every, 0)) return std::nullopt;
    return clean(CleanupPoint::send, options_.light, false);
  }

  CleanupEvent ended(CleanupPoint point) {
    const std::lock_guard lock(mutex_);
    return clean(point, options_.heavy, true);
  }

  Totals totals() const {
    const std::lock_guard lock(mutex_);
    return totals_;
  }

 private:
  MemoryLevel look_at_pressure() {
    if (!options_.pressure || !is_due(round_, options_.pressure_every, options_.first_round))
      return MemoryLevel::normal;
    const PressureReading reading = options_.pressure->read();
    const auto used = reading.used_ratio();
    const bool use_rose = used && use_.reached(*used);
    const bool stall_rose = reading.stall && stall_.reached(reading.stall->some_percent / 100);
    if (use_rose || stall_rose) {
      ++totals_.warnings;
      call(options_.warned, PressureWarning{round_, reading});
    }
    return reading.level;
  }

  CleanupEvent clean(CleanupPoint point, const CleanupOptions& how, bool heavy) {
    CleanupEvent event{point, heavy, round_, cleanup_memory(how)};
    ++totals_.cleanups;
    totals_.seconds += event.report.seconds;
    totals_.freed_bytes += event.report.freed_bytes().value_or(0);
    call(options_.cleaned, event);
    return event;
  }

  template <class Value>
  void call(const std::function<void(const Value&)>& callback, const Value& value) {
    try {
      if (callback) callback(value);
    } catch (...) {  // the policy's caller has asked for a cleanup, not for this
      ++totals_.failed_callbacks;
    }
  }

  const CleanupPolicyOptions options_;
  mutable std::recursive_mutex mutex_;  ///< recursive: a callback may ask for totals
  MemoryAlarm use_;
  MemoryAlarm stall_;
  int round_ = 0;
  int sends_ = 0;
  Totals totals_;
};

const char* name_of(CleanupPoint point) {
  constexpr std::array<const char*, 8> kNames = {"round",  "send", "trial",     "method",
                                                 "repeat", "end",  "exception", "pressure"};
  return kNames.at(static_cast<std::size_t>(point));
}

std::string to_string(const CleanupEvent& event) {
  return "round " + std::to_string(event.round) + ": " + (event.heavy ? "heavy" : "light") +
         " cleanup (" + name_of(event.point) + "): " + to_string(event.report);
}

std::string to_string(const PressureWarning& warning) {
  return "round " + std::to_string(warning.round) + ": " + to_string(warning.reading);
}

CleanupPolicy::CleanupPolicy(CleanupPolicyOptions options)
    : state_(std::make_unique<State>(std::move(options))) {}

CleanupPolicy::~CleanupPolicy() = default;

std::optional<CleanupEvent> CleanupPolicy::round_ended(int round) noexcept {
  return state_->round_ended(round);
}

std::optional<CleanupEvent> CleanupPolicy::sent() noexcept {
  return state_->sent();
}

CleanupEvent CleanupPolicy::ended(CleanupPoint point) noexcept {
  return state_->ended(point);
}

CleanupPolicy::Totals CleanupPolicy::totals() const {
  return state_->totals();
}

CleanupScope::CleanupScope(CleanupPolicy& policy, CleanupPoint point)
    : policy_(policy), point_(point), exceptions_(std::uncaught_exceptions()) {}

CleanupScope::~CleanupScope() {
  const bool is_left_by_exception = std::uncaught_exceptions() > exceptions_;
  policy_.ended(is_left_by_exception ? CleanupPoint::exception : point_);
}

}  // namespace memduel
