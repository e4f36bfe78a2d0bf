// What one run measured, as plain values: bench/run fills them and stores them in run.sqlite;
// bench/verdict and reports/ read them. Times are CLOCK_MONOTONIC nanoseconds; the unit of a metric
// is in its name.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/document.h"
#include "model/job_facts.h"
#include "util/reflection.h"

namespace memduel {

/// A name of a metric, looked up once for many values.
class MetricName {
 public:
  explicit MetricName(std::string_view name);

 private:
  friend class Metrics;
  const std::string* kept_;  ///< for the life of the process
};

/// Metric name to value. A metric that could not be read is absent, never 0.
///
/// Used as a std::map<std::string, double> is, with 16 bytes an entry in place of some 100: ten
/// thousand rounds hold the same few names, each of which is kept once for the whole process.
/// Unlike a map's, references and iterators end with the next insertion.
class Metrics {
  struct Entry {
    const std::string* name;  ///< kept for the life of the process
    double value;
  };
  template <typename Value, typename At>
  class Iterator;

 public:
  using key_type = std::string;
  using mapped_type = double;
  using value_type = std::pair<const std::string&, const double&>;
  using const_iterator = Iterator<const double, std::vector<Entry>::const_iterator>;
  using iterator = Iterator<double, std::vector<Entry>::iterator>;

  Metrics() = default;
  Metrics(std::initializer_list<std::pair<std::string_view, double>> values);
  /// Requires: the names ascend, and each has a value.
  Metrics(const std::vector<MetricName>& names, const std::vector<double>& values);

  [[nodiscard]] bool empty() const { return entries_.empty(); }
  [[nodiscard]] std::size_t size() const { return entries_.size(); }
  void clear() { entries_.clear(); }

  /// In the order of their names. Equal names have one address.
  [[nodiscard]] const_iterator begin() const;
  [[nodiscard]] const_iterator end() const;
  [[nodiscard]] iterator begin();
  [[nodiscard]] iterator end();

  [[nodiscard]] const_iterator find(std::string_view name) const;
  [[nodiscard]] iterator find(std::string_view name);
  [[nodiscard]] bool contains(std::string_view name) const;
  /// Absent where the metric is.
  [[nodiscard]] std::optional<double> value(std::string_view name) const;
  [[nodiscard]] std::optional<double> value(MetricName name) const;
  [[nodiscard]] std::size_t count(std::string_view name) const { return contains(name) ? 1 : 0; }

  /// Throws std::out_of_range where it is absent.
  [[nodiscard]] double at(std::string_view name) const;
  /// 0 where it was absent.
  double& operator[](std::string_view name);
  /// As metrics[name] = value; fastest in the order of the names.
  void assign(MetricName name, double value);
  /// Keeps the value that is there, if any; the second says whether there was none.
  std::pair<iterator, bool> emplace(std::string_view name, double value);
  std::size_t erase(std::string_view name);

  template <typename Pair>
  void insert(const Pair& entry) {
    emplace(entry.first, entry.second);
  }
  template <typename Range>
  void insert(Range first, Range last) {
    for (; first != last; ++first) emplace(first->first, first->second);
  }
  /// What the other has and this has not.
  void merge(const Metrics& other);

  friend bool operator==(const Metrics& a, const Metrics& b);

  /// Where `drop` holds of a pair (name, value).
  template <typename Drop>
  friend std::size_t erase_if(Metrics& metrics, Drop drop) {
    return std::erase_if(metrics.entries_, [&](const Entry& entry) {
      return drop(std::pair<const std::string&, const double&>(*entry.name, entry.value));
    });
  }

 private:
  [[nodiscard]] std::size_t place_of(std::string_view name) const;
  [[nodiscard]] bool is_at(std::size_t place, std::string_view name) const;

  std::vector<Entry> entries_;  ///< by name
};

/// Gives each entry as a pair of references, as a map's iterator does.
template <typename Value, typename At>
class Metrics::Iterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = std::pair<const std::string&, Value&>;
  using reference = value_type;
  using difference_type = std::ptrdiff_t;
  struct pointer {
    value_type pair;
    value_type* operator->() { return &pair; }
  };

  Iterator() = default;
  explicit Iterator(At at) : at_(at) {}

  reference operator*() const { return {*at_->name, at_->value}; }
  pointer operator->() const { return {**this}; }
  Iterator& operator++() {
    ++at_;
    return *this;
  }
  Iterator operator++(int) {
    Iterator before = *this;
    ++at_;
    return before;
  }
  friend bool operator==(const Iterator& a, const Iterator& b) { return a.at_ == b.at_; }

 private:
  At at_;
};

inline Metrics::const_iterator Metrics::begin() const {
  return const_iterator(entries_.begin());
}
inline Metrics::const_iterator Metrics::end() const {
  return const_iterator(entries_.end());
}
inline Metrics::iterator Metrics::begin() {
  return iterator(entries_.begin());
}
inline Metrics::iterator Metrics::end() {
  return iterator(entries_.end());
}
inline void Metrics::merge(const Metrics& other) {
  insert(other.begin(), other.end());
}

/// A list that copies of its owner share until one of them changes it.
///
/// Rounds and series are most of a run, and a run is copied where a part of its trials is looked
/// at. Reads as a const std::vector<T> does; edit() is the way to change it. Owners in different
/// threads may read one list, and change their own.
template <typename T>
class SharedVector {
 public:
  using value_type = T;
  using const_reference = const T&;
  using size_type = std::size_t;
  using const_iterator = typename std::vector<T>::const_iterator;
  using iterator = const_iterator;

  SharedVector() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): as lists are given
  SharedVector(std::vector<T> items)
      : items_(items.empty() ? nullptr : std::make_shared<std::vector<T>>(std::move(items))) {}
  SharedVector(std::initializer_list<T> items) : SharedVector(std::vector<T>(items)) {}

  [[nodiscard]] const std::vector<T>& items() const {
    static const std::vector<T> none;
    return items_ ? *items_ : none;
  }
  // NOLINTNEXTLINE(google-explicit-constructor): for readers of lists
  operator const std::vector<T>&() const { return items(); }

  /// This owner's alone from now on, until it is copied; the reference ends with the next copy.
  std::vector<T>& edit() {
    if (!items_) items_ = std::make_shared<std::vector<T>>();
    if (items_.use_count() > 1) items_ = std::make_shared<std::vector<T>>(*items_);
    return *items_;
  }
  void push_back(T item) { edit().push_back(std::move(item)); }
  void clear() { items_.reset(); }

  [[nodiscard]] bool empty() const { return items().empty(); }
  [[nodiscard]] std::size_t size() const { return items().size(); }
  [[nodiscard]] const T& operator[](std::size_t i) const { return items()[i]; }
  [[nodiscard]] const T& at(std::size_t i) const { return items().at(i); }
  [[nodiscard]] const T& front() const { return items().front(); }
  [[nodiscard]] const T& back() const { return items().back(); }
  [[nodiscard]] const_iterator begin() const { return items().begin(); }
  [[nodiscard]] const_iterator end() const { return items().end(); }

 private:
  std::shared_ptr<std::vector<T>> items_;  ///< absent: an empty list
};

inline constexpr const char* kKilledForMemory = "was killed for memory";

enum class TrialKind { warmup, measure, profile };
enum class TrialStatus { ok, failed, killed_for_memory, dropped };
template <>
inline constexpr NameTable<TrialKind, 3> kNameTable<TrialKind> = {
    {{TrialKind::warmup, "warmup"},
     {TrialKind::measure, "measure"},
     {TrialKind::profile, "profile"}}};
template <>
inline constexpr NameTable<TrialStatus, 4> kNameTable<TrialStatus> = {
    {{TrialStatus::ok, "ok"},
     {TrialStatus::failed, "failed"},
     {TrialStatus::killed_for_memory, "killed_for_memory"},
     {TrialStatus::dropped, "dropped"}}};

/// One stretch of a round in one process-wide phase; a phase name may return within a round.
struct PhaseData {
  std::string phase;
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  Metrics metrics;
};

struct RoundData {
  int round = 0;  ///< counted from 1
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  Metrics metrics;
  std::vector<PhaseData> phases;
  /// peak_rss_bytes is the largest sample, not the kernel's maximum, which may be larger.
  bool peak_rss_is_sampled = false;
};

/// What a trial has besides its rounds.
enum class TrialPart { start_up, between_rounds, after_rounds };
template <>
inline constexpr NameTable<TrialPart, 3> kNameTable<TrialPart> = {
    {{TrialPart::start_up, "start_up"},
     {TrialPart::between_rounds, "between_rounds"},
     {TrialPart::after_rounds, "after_rounds"}}};

/// The peak outside rounds: before the first, in the gap between two that has the largest peak, or
/// after the last.
struct OutsideRounds {
  TrialPart part = TrialPart::start_up;
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  double peak_rss_bytes = 0;
  bool peak_rss_is_sampled = false;  ///< as in RoundData
};

/// Samples of one metric in time order; both vectors have the same length.
struct Series {
  std::string metric;
  std::vector<std::int64_t> t_ns;
  std::vector<std::int64_t> values;
};

/// One process of a trial, or the group `all` (all processes together).
struct RoleData {
  std::string role;
  Metrics metrics;
  SharedVector<RoundData> rounds;
  SharedVector<Series> series;
  std::optional<int> exit_status;  ///< absent when ended by a signal, and for `all`
  std::optional<int> exit_signal;
  /// By its program, of metrics of its own.
  std::set<DeclaredDirection> declared = {};  // NOLINT(readability-redundant-member-init): -Wextra
  /// One of each part at most. peak_rss_bytes of the role is the largest of these and its rounds'.
  std::vector<OutsideRounds> outside_rounds = {};  // NOLINT(readability-redundant-member-init)
  bool peak_rss_is_sampled = false;                ///< as in RoundData
};

/// Among a trial's files: what a program that has to leave none printed. No file is called so.
inline constexpr const char* kStandardOutput = "standard output";
/// Another name that no file of a config may have.
inline constexpr const char* kFinalModel = "the final model";

struct TrialData {
  std::int64_t id = 0;  ///< counted from 1 over the whole run
  int block = 0;        ///< 0 is the warm-up block
  int position = 0;     ///< place within the block's random order, from 0
  std::string arm;
  TrialKind kind = TrialKind::measure;
  std::string tracer;  ///< of a profile trial; empty otherwise
  TrialStatus status = TrialStatus::ok;
  std::string failure;         ///< role, signal or status, last log lines; empty when ok
  bool harness_fault = false;  ///< our own fault: drops the whole block
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  double harness_cpu_seconds = 0;  ///< CPU time of memduel and its launcher during the trial
  std::optional<std::string>
      model_sha256;  ///< of the final global model, where the workload has one
  std::map<std::string, std::string> files;  ///< name to SHA-256 of what the trial had to leave,
                                             ///< or of kStandardOutput
  /// Role to the file from which its malloc was seen to come, where the arm names an allocator.
  std::map<std::string, std::string> allocators;
  std::vector<RoleData> roles;

  /// A measured one that ended well: its numbers go into the verdict.
  [[nodiscard]] bool counts() const {
    return kind == TrialKind::measure && status == TrialStatus::ok;
  }
  [[nodiscard]] double seconds() const { return static_cast<double>(end_ns - begin_ns) * 1e-9; }
  /// Absent where the trial has no such role, or the role no such metric.
  [[nodiscard]] std::optional<double> value(std::string_view role, std::string_view metric) const;
};

inline std::optional<double> TrialData::value(std::string_view role,
                                              std::string_view metric) const {
  const auto found = std::ranges::find(roles, role, &RoleData::role);
  return found == roles.end() ? std::nullopt : found->metrics.value(metric);
}

/// A limitation or a warning: something expected that was not possible here; something that weakens
/// a claim, with advice.
struct Note {
  std::string code;  ///< stable name in snake_case
  std::string message;
  std::string advice;
};

/// Of a role whose memory is Go's own heap, which no recorder can enter.
inline constexpr const char* kGoHeapNote = "go_heap";

/// The difference of an artifact between two arms, by its `compare` command.
struct ArtifactDifference {
  std::string baseline;
  std::string candidate;
  std::string artifact;  ///< the name of a file in the config, or kFinalModel
  bool bit_identical = false;
  std::optional<double> max_difference;       ///< largest of all that were compared
  std::optional<double> max_within_baseline;  ///< of a file: between two trials of the baseline
};

struct RunData {
  Document config;  ///< resolved: every default and preset written out
  std::string config_sha256;
  JobFacts job;                ///< of its config
  nlohmann::json environment;  ///< cpu, kernel, allocator, torch, memduel, fingerprint, …
  std::vector<TrialData> trials;
  std::vector<ArtifactDifference> artifact_differences;
  std::vector<Note> limitations;
  std::vector<Note> warnings;
};

/// A limitation about the resolution of charts, which no verdict rests on: summaries leave it out.
inline constexpr const char* kSampledLessOften = "sampled_less_often";

/// What a profile says is live at the ends of rounds, stack by stack.
struct LiveStack {
  std::vector<std::string> stack;  ///< functions, outermost first
  std::string phase;               ///< where most of it was born; empty: in none
  std::vector<double> bytes;       ///< at the end of each round
  /// Of the line that grew most, as Difference::location.
  std::string location = {};  // NOLINT(readability-redundant-member-init): -Wextra
};

struct LiveAtRoundEnds {
  std::vector<int> rounds;  ///< ascending
  std::vector<LiveStack> stacks;
};

/// Adds to the run's job what the programs of its trials declare. A metric of which two
/// declarations contradict each other is undeclared, with a warning; one of the table keeps the
/// table's direction.
void join_declarations(RunData& run);

/// The declarations of two jobs that are compared, together; a warning for each that contradict.
std::vector<Note> join_declarations(JobFacts& job, const JobFacts& other);

}  // namespace memduel
