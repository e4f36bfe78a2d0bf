// The little of SQLite that the run store uses, with owners and exceptions.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace memduel::sqlite {

struct CloseDatabase {
  void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
};
struct FinalizeStatement {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};

enum class Mode { create, read_write, read_only };

/// One connection. Every failure is an Error(io) that names the file and SQLite's reason.
class Database {
 public:
  Database(const std::filesystem::path& file, Mode mode);
  /// A database in memory with these bytes as its file; read-only. For fuzzing.
  static Database from_bytes(std::string_view bytes);

  void execute(const std::string& sql);
  [[noreturn]] void fail(const std::string& doing) const;
  [[nodiscard]] sqlite3* handle() const { return handle_.get(); }

 private:
  explicit Database(std::string name) : name_(std::move(name)) {}

  std::string name_;
  std::unique_ptr<sqlite3, CloseDatabase> handle_;
};

/// A prepared statement: bind in the order of its parameters, then step through its rows.
class Statement {
 public:
  Statement(const Database& database, const std::string& sql);

  Statement& bind(std::int64_t value);
  Statement& bind(int value) { return bind(std::int64_t{value}); }
  Statement& bind(bool value) { return bind(std::int64_t{value}); }
  Statement& bind(double value);  ///< NaN is stored as NULL
  Statement& bind(const std::string& text);
  Statement& bind(const char* text) { return bind(std::string(text)); }
  Statement& bind_blob(std::string_view bytes);
  Statement& bind_null();
  template <typename T>
  Statement& bind(const std::optional<T>& value) {
    return value ? bind(*value) : bind_null();
  }

  bool step();   ///< true: there is a row
  void reset();  ///< ready for the next values
  void run();    ///< runs to the end, then resets

  [[nodiscard]] bool is_null(int column) const;
  [[nodiscard]] std::int64_t integer(int column) const;
  [[nodiscard]] int small_integer(int column) const;  ///< Error(io) when it does not fit an int
  [[nodiscard]] double real(int column) const;        ///< NULL is NaN
  [[nodiscard]] std::string text(int column) const;
  [[nodiscard]] std::string_view blob(int column) const;  ///< until the next step

 private:
  const Database& database_;
  std::unique_ptr<sqlite3_stmt, FinalizeStatement> handle_;
  int next_parameter_ = 1;
};

/// Commits when told to, else rolls back.
class Transaction {
 public:
  explicit Transaction(Database& database);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  void commit();

 private:
  Database& database_;
  bool open_ = true;
};

}  // namespace memduel::sqlite
