#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "run/store.h"
#include "util/error.h"
#include "util/text.h"

namespace memduel::sqlite {
namespace {

constexpr int kBusyMilliseconds = 10000;
/// By one thread: a mutex for every column of every row took a tenth of the time of a report.
constexpr int kRead = SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX;

int open_flags(Mode mode) {
  switch (mode) {
    case Mode::create:
      return SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    case Mode::read_write:
      return SQLITE_OPEN_READWRITE;
    case Mode::read_only:
      return kRead;
    case Mode::read_locked:
      return kRead | SQLITE_OPEN_URI;
  }
  return kRead;
}

/// What SQLite opens: the file, or a URI of it that forbids locks.
std::string name_for(const std::filesystem::path& file, Mode mode) {
  if (mode != Mode::read_locked) return file.string();
  std::string escaped;
  for (const char byte : std::filesystem::absolute(file).string())
    escaped += byte == '%' || byte == '?' || byte == '#'
                   ? fmt::format("%{:02x}", static_cast<unsigned>(byte))
                   : std::string(1, byte);
  return "file://" + escaped + "?immutable=1";
}

/// A store may come from anywhere: nothing in its schema may act.
void harden(sqlite3* database) {
  sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
}

std::string advice_on(int code, const std::filesystem::path& file) {
  constexpr std::size_t kLongestPath = 512;  // of SQLite on Unix
  if (code == SQLITE_IOERR) return "check the free disk space and file size limit (df, ulimit -f)";
  if (code != SQLITE_CANTOPEN) return {};
  std::error_code unreadable;
  const std::size_t length = std::filesystem::absolute(file, unreadable).string().size();
  if (length <= kLongestPath) return {};
  return fmt::format("its path has {} bytes, but SQLite allows at most {}", length, kLongestPath);
}

}  // namespace

Database::Database(const std::filesystem::path& file, Mode mode) : name_(file.string()) {
  std::error_code absent;
  const auto type = std::filesystem::status(file, absent).type();
  using Type = std::filesystem::file_type;
  if (type != Type::regular && type != Type::not_found)  // SQLite would wait for a pipe's writer
    throw Error(ExitCode::io, "cannot open the run store: it is not a regular file", name_);
  sqlite3* raw = nullptr;
  const int status = sqlite3_open_v2(name_for(file, mode).c_str(), &raw, open_flags(mode), nullptr);
  handle_.reset(raw);
  if (status != SQLITE_OK) fail("open");
  sqlite3_busy_timeout(raw, kBusyMilliseconds);
  harden(raw);
  // KiB: stores are written and read in order, so that a larger cache is of no use. What is wrong
  // with the file is what the first statement finds.
  sqlite3_exec(raw, "PRAGMA cache_size=-256", nullptr, nullptr, nullptr);
}

Database Database::from_bytes(std::string_view bytes) {
  Database database("bytes in memory");
  sqlite3* raw = nullptr;
  const int opened = sqlite3_open_v2(":memory:", &raw, SQLITE_OPEN_READWRITE, nullptr);
  database.handle_.reset(raw);
  if (opened != SQLITE_OK) database.fail("open");
  harden(raw);
  auto* copy = static_cast<unsigned char*>(sqlite3_malloc64(bytes.size() + 1));
  std::memcpy(copy, bytes.data(), bytes.size());
  const auto size = static_cast<sqlite3_int64>(bytes.size());
  if (sqlite3_deserialize(raw, "main", copy, size, size,
                          SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_READONLY) !=
      SQLITE_OK) {
    database.fail("read");
  }
  return database;
}

void Database::execute(const std::string& sql) {
  if (sqlite3_exec(handle_.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
    fail("use");
  }
}

void Database::pace_syncs() {
  constexpr std::chrono::seconds kInterval{1};
  const auto now = std::chrono::steady_clock::now();
  const bool is_due = now - synced_ >= kInterval;
  execute(is_due ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=OFF");
  if (is_due) synced_ = now;
}

void Database::fail(const std::string& doing) const {
  const int code = handle_ ? sqlite3_errcode(handle_.get()) : SQLITE_NOMEM;
  std::error_code unreadable;
  const bool gone = code == SQLITE_READONLY && !std::filesystem::exists(name_, unreadable);
  const char* reason = gone      ? "it was removed or moved"
                       : handle_ ? sqlite3_errmsg(handle_.get())
                                 : "out of memory";
  throw Error(ExitCode::io, fmt::format("cannot {} the run store: {}", doing, reason), name_,
              advice_on(code, name_));
}

Statement::Statement(const Database& database, const std::string& sql) : database_(database) {
  sqlite3_stmt* raw = nullptr;
  const int status = sqlite3_prepare_v2(database.handle(), sql.c_str(), -1, &raw, nullptr);
  handle_.reset(raw);
  if (status != SQLITE_OK) database_.fail("read");
}

Statement& Statement::bind(std::int64_t value) {
  sqlite3_bind_int64(handle_.get(), next_parameter_++, value);
  return *this;
}

Statement& Statement::bind(double value) {
  sqlite3_bind_double(handle_.get(), next_parameter_++, value);
  return *this;
}

Statement& Statement::bind(const std::string& text) {
  sqlite3_bind_text64(handle_.get(), next_parameter_++, text.data(), text.size(), SQLITE_TRANSIENT,
                      SQLITE_UTF8);
  return *this;
}

Statement& Statement::bind_blob(std::string_view bytes) {
  sqlite3_bind_blob64(handle_.get(), next_parameter_++, bytes.data(), bytes.size(),
                      SQLITE_TRANSIENT);
  return *this;
}

Statement& Statement::bind_null() {
  sqlite3_bind_null(handle_.get(), next_parameter_++);
  return *this;
}

bool Statement::step() {
  const int status = sqlite3_step(handle_.get());
  if (status == SQLITE_ROW) return true;
  if (status != SQLITE_DONE) database_.fail("use");
  return false;
}

void Statement::reset() {
  sqlite3_reset(handle_.get());
  next_parameter_ = 1;
}

void Statement::run() {
  while (step()) {
  }
  reset();
}

bool Statement::is_null(int column) const {
  return sqlite3_column_type(handle_.get(), column) == SQLITE_NULL;
}

std::int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(handle_.get(), column);
}

int Statement::small_integer(int column) const {
  const std::int64_t value = integer(column);
  if (value < std::numeric_limits<int>::min() || value > std::numeric_limits<int>::max()) {
    throw Error(ExitCode::io, fmt::format("the run store is damaged: found {} in column {}", value,
                                          sqlite3_column_name(handle_.get(), column)));
  }
  return static_cast<int>(value);
}

double Statement::real(int column) const {
  return is_null(column) ? std::nan("") : sqlite3_column_double(handle_.get(), column);
}

std::string Statement::text(int column) const {
  return valid_utf8(std::string(stored_text(column)));
}

std::string_view Statement::stored_text(int column) const {
  const auto* bytes = sqlite3_column_text(handle_.get(), column);
  if (bytes == nullptr) return {};
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(handle_.get(), column));
  return {reinterpret_cast<const char*>(bytes), size};
}

std::string_view Statement::blob(int column) const {
  const void* bytes = sqlite3_column_blob(handle_.get(), column);
  if (bytes == nullptr) return {};
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(handle_.get(), column));
  return {static_cast<const char*>(bytes), size};
}

Transaction::Transaction(Database& database) : database_(database) {
  database_.pace_syncs();
  database_.execute("BEGIN IMMEDIATE");
}

Transaction::~Transaction() {
  if (open_) sqlite3_exec(database_.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
}

void Transaction::commit() {
  database_.execute("COMMIT");
  open_ = false;
}

}  // namespace memduel::sqlite
