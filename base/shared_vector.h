// A list that copies of its owner share until one of them changes it.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

namespace memduel {

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

}  // namespace memduel
