#include <array>
#include <exception>
#include <limits>
#include <mutex>
#include <stdexcept>

#include "memduel/memory.h"
#include "memory/memory_alarm.h"

namespace memduel {
namespace {

void require_count(const char* name, int value) {
  if (value >= 0) return;
  throw std::invalid_argument(std::string("CleanupPolicyOptions.") + name + ": found " +
                              std::to_string(value) + ", expected a whole number from 0");
}

CleanupPolicyOptions checked(CleanupPolicyOptions options) {
  require_count("light_every", options.light_every);
  require_count("heavy_every", options.heavy_every);
  require_count("send_every", options.send_every);
  require_count("first_round", options.first_round);
  require_count("pressure_every", options.pressure_every);
  if (options.pressure && options.pressure_every == 0)
    throw std::invalid_argument(
        "CleanupPolicyOptions.pressure_every: found 0, expected a whole number from 1 beside a "
        "pressure to look at");
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
