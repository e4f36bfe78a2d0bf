// Metric names with their values, small enough for every round and phase of a long run.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace memduel {

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

  [[nodiscard]] bool empty() const { return entries_.empty(); }
  [[nodiscard]] std::size_t size() const { return entries_.size(); }
  void clear() { entries_.clear(); }

  /// In the order of their names.
  [[nodiscard]] const_iterator begin() const;
  [[nodiscard]] const_iterator end() const;
  [[nodiscard]] iterator begin();
  [[nodiscard]] iterator end();

  [[nodiscard]] const_iterator find(std::string_view name) const;
  [[nodiscard]] iterator find(std::string_view name);
  [[nodiscard]] bool contains(std::string_view name) const;
  /// Absent where the metric is.
  [[nodiscard]] std::optional<double> value(std::string_view name) const;
  [[nodiscard]] std::size_t count(std::string_view name) const { return contains(name) ? 1 : 0; }

  /// Throws std::out_of_range where it is absent.
  [[nodiscard]] double at(std::string_view name) const;
  /// 0 where it was absent.
  double& operator[](std::string_view name);
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

}  // namespace memduel
