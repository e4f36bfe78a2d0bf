// Described values (reflection.h) as JSON text, without a nlohmann::json of each: a results.json of
// 12.9 million numbers takes about half the CPU time.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "util/json.h"
#include "util/reflection.h"

namespace memduel {

/// The text has the bytes of written(value).dump(indent, ' ', false, error_handler_t::replace).
class JsonText {
 public:
  /// @param depth  blanks before the line in which a value begins
  explicit JsonText(int indent, std::size_t depth = 0) : indent_(indent), depth_(depth) {}

  template <typename T>
  void write(const T& value) {
    if constexpr (std::is_same_v<T, std::string>) {
      add_string(value);
    } else if constexpr (std::floating_point<T>) {
      add_number(value);
    } else if constexpr (std::same_as<T, bool>) {
      text_ += value ? "true" : "false";
    } else if constexpr (std::integral<T>) {
      add_integer(value);
    } else if constexpr (Described<T>) {
      write_fields(value);
    } else if constexpr (DictionaryValue<T>) {
      write_entries(value);
    } else {
      write_items(value);
    }
  }

  /// The text of a list in pieces, so that a long one is never in memory as a whole.
  /// @param sink takes each piece as a std::string_view
  template <typename List, typename Sink>
  void write_pieces(const List& list, const Sink& sink) {
    constexpr std::size_t kPiece = std::size_t{1} << 16;
    open('[');
    for (const auto& item : list) {
      next_item();
      write(item);
      if (text_.size() < kPiece) continue;
      sink(text_);
      text_.clear();
    }
    close(']');
    sink(text_);
    text_.clear();
  }

  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  /// In the order of their names.
  template <Described T, typename Visit>
  static void for_each_field_by_name(Visit visit) {
    constexpr std::size_t kCount = std::tuple_size_v<decltype(kDescription<T>.fields)>;
    constexpr auto kOrder = []<std::size_t... I>(std::index_sequence<I...>) {
      std::array<std::pair<std::string_view, std::size_t>, kCount> names = {
          {{std::get<I>(kDescription<T>.fields).name, I}...}};
      std::ranges::sort(names);
      return names;
    }(std::make_index_sequence<kCount>());
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (visit(std::get<kOrder[I].second>(kDescription<T>.fields)), ...);
    }(std::make_index_sequence<kCount>());
  }

  template <Described T>
  void write_fields(const T& value) {
    open('{');
    for_each_field_by_name<T>([&](const auto& field) {
      const auto& member = value.*field.member;
      if (field.presence == Presence::if_set && !is_set(member)) return;
      add_key(field.name);
      if (field.presence == Presence::text_or_null && !is_set(member))
        text_ += "null";
      else
        write(member);
    });
    close('}');
  }

  template <DictionaryValue T>
  void write_entries(const T& value) {
    open('{');
    for (const auto& [name, entry] : value) {
      if constexpr (std::floating_point<std::remove_cvref_t<decltype(entry)>>)
        if (!std::isfinite(entry)) continue;
      add_key(name);
      write(entry);
    }
    close('}');
  }

  template <typename T>
  void write_items(const T& value) {
    open('[');
    for (const auto& item : value) {
      next_item();
      write(item);
    }
    close(']');
  }

  void open(char bracket);
  void close(char bracket);
  void next_item();
  void add_key(std::string_view name);
  void add_string(std::string_view value);
  void add_number(double value);
  void add_integer(long long value);
  void add_line();

  int indent_;
  std::size_t depth_;
  std::string text_;
  bool is_empty_ = true;  ///< what was opened last
};

}  // namespace memduel
