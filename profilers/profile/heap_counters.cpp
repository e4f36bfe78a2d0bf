#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "profile/recorded_files.h"
#include "recorder/layout.h"
#include "util/error.h"
#include "util/file.h"
#include "util/text.h"

namespace memduel {

namespace {

constexpr const char* kOtherVersion = "it was written by another version of the recorder";

using recorder::HeapPage;
using recorder::Mode;
using recorder::Scope;
using recorder::ScopeKind;

template <std::size_t kSize>
std::string text_of(const char (&field)[kSize]) {
  return {field, strnlen(field, kSize)};
}

std::string mode_name(Mode mode) {
  const char* const word = recorder::mode_word(mode);
  return word != nullptr ? word : fmt::format("mode {}", static_cast<std::uint32_t>(mode));
}

HeapScope scope_of(const Scope& raw) {
  HeapScope scope;
  scope.round = raw.round;
  if (raw.kind == ScopeKind::phase) scope.phase = text_of(raw.phase);
  scope.begin_ns = static_cast<std::int64_t>(raw.begin_ns);
  scope.end_ns = static_cast<std::int64_t>(raw.end_ns);
  scope.live_begin_bytes = raw.live_begin_bytes;
  scope.live_end_bytes = raw.live_end_bytes;
  scope.peak_bytes = raw.peak_bytes;
  scope.mapping_peak_bytes = raw.mapping_peak_bytes;
  scope.mapping_end_bytes = raw.mapping_end_bytes;
  scope.together_peak_bytes = raw.together_peak_bytes;
  scope.together_end_bytes = raw.live_end_bytes + raw.dense_end_bytes;
  scope.allocated_bytes =
      static_cast<std::int64_t>(raw.allocated_end_bytes - raw.allocated_begin_bytes);
  scope.allocations = static_cast<std::int64_t>(raw.allocations_end - raw.allocations_begin);
  return scope;
}

// The end values of a scope that still runs are the page's.
HeapScope running_scope(Scope raw, const HeapPage& page) {
  raw.live_end_bytes = page.live_bytes;
  raw.mapping_end_bytes = page.mapping_bytes;
  raw.dense_end_bytes = page.dense_bytes;
  raw.allocated_end_bytes = page.allocated_bytes;
  raw.allocations_end = page.allocations;
  return scope_of(raw);
}

/// Other users may write to a directory that root records into: no pipe that never ends, no link.
bool is_own_file(const std::filesystem::directory_entry& entry) {
  std::error_code gone;
  return entry.symlink_status(gone).type() == std::filesystem::file_type::regular;
}

HeapPage page_of(const std::string& bytes, const std::filesystem::path& file) {
  HeapPage page{};
  if (bytes.size() < sizeof page) {
    throw Error(
        ExitCode::io, fmt::format("{} bytes, expected at least {}", bytes.size(), sizeof page),
        file.string(),
        "the program was killed while it started, only starts now, or may not write that much "
        "(df, ulimit -f)");
  }
  std::memcpy(&page, bytes.data(), sizeof page);
  const std::string found(page.magic, sizeof page.magic);
  const std::string expected(recorder::kPageMagic, sizeof recorder::kPageMagic);
  if (found != expected) {
    const bool other_version = found.starts_with("MDHEAP");
    throw Error(ExitCode::io,
                fmt::format("{} {}, found {}",
                            other_version ? "expected counters" : "not a counters file: expected",
                            expected, valid_utf8(found)),
                file.string(), other_version ? kOtherVersion : "");
  }
  if (page.page_bytes != sizeof(HeapPage) || page.scope_bytes != sizeof(Scope)) {
    throw Error(ExitCode::io,
                fmt::format("expected a page of {} and scopes of {} bytes, found {} and {}",
                            sizeof(HeapPage), sizeof(Scope), page.page_bytes, page.scope_bytes),
                file.string(), kOtherVersion);
  }
  return page;
}

}  // namespace

// A process that nobody has waited for yet has no program any more.
bool HeapCounters::still_runs() const {
  std::error_code error;
  const auto executed = std::filesystem::read_symlink(fmt::format("/proc/{}/exe", pid), error);
  return !finished && !executed.empty();
}

std::int64_t HeapCounters::uncertainty_bytes() const {
  return threads > 1 || !finished ? recorder::unpublished_bytes(std::max<std::int64_t>(1, threads))
                                  : 0;
}

HeapCounters read_heap_counters(const std::filesystem::path& file) {
  const std::string bytes = read_file(file);
  const HeapPage page = page_of(bytes, file);
  HeapCounters counters;
  counters.pid = page.pid;
  counters.parent_pid = page.parent_pid;
  counters.started_ns = static_cast<std::int64_t>(page.started_ns);
  counters.ended_ns = static_cast<std::int64_t>(page.ended_ns);
  counters.program = text_of(page.program);
  counters.allocator = text_of(page.allocator);
  counters.mode = mode_name(page.mode);
  counters.finished = (page.flags & recorder::kFinished) != 0;
  counters.forked = (page.flags & recorder::kForked) != 0;
  counters.shut_out = (page.flags & recorder::kShutOut) != 0;
  counters.replaced = (page.flags & recorder::kReplaced) != 0;
  counters.left_behind = (page.flags & recorder::kLeftBehind) != 0;
  counters.live_bytes = page.live_bytes;
  counters.peak_bytes = page.peak_bytes;
  counters.inherited_bytes = page.inherited_bytes;
  counters.allocated_bytes = static_cast<std::int64_t>(page.allocated_bytes);
  counters.allocations = static_cast<std::int64_t>(page.allocations);
  counters.threads = static_cast<std::int64_t>(page.threads);
  counters.lost = static_cast<std::int64_t>(page.lost);
  counters.mapping_bytes = page.mapping_bytes;
  counters.mapping_peak_bytes = page.mapping_peak_bytes;
  counters.mapped_bytes = static_cast<std::int64_t>(page.mapped_bytes);
  counters.mappings = static_cast<std::int64_t>(page.mappings);
  counters.inherited_mapping_bytes = page.inherited_mapping_bytes;
  counters.dense_bytes = page.dense_bytes;
  counters.inherited_dense_bytes = page.inherited_dense_bytes;
  counters.together_peak_bytes = page.together_peak_bytes;
  counters.file_peak_bytes = static_cast<std::int64_t>(page.file_peak_bytes);
  counters.has_sparse = page.sparse_mappings > 0;
  // A scope that was being appended when the process died is left out.
  const std::size_t whole = (bytes.size() - sizeof page) / sizeof(Scope);
  const std::size_t kept = std::min<std::size_t>(whole, page.scopes);
  for (std::size_t i = 0; i < kept; ++i) {
    Scope raw{};
    std::memcpy(&raw, bytes.data() + sizeof page + i * sizeof raw, sizeof raw);
    counters.scopes.push_back(scope_of(raw));
  }
  if (page.phase.kind == ScopeKind::phase) {
    counters.scopes.push_back(running_scope(page.phase, page));
  }
  if (page.round.kind == ScopeKind::round) {
    counters.scopes.push_back(running_scope(page.round, page));
  }
  return counters;
}

HeapImages read_heap_directory(const std::filesystem::path& directory) {
  HeapImages found;
  std::error_code failure;
  for (const auto& entry : std::filesystem::directory_iterator(directory, failure)) {
    if (entry.path().extension() != ".heap" || !is_own_file(entry)) continue;
    try {
      found.images.push_back(read_heap_counters(entry.path()));
    } catch (const Error& error) {  // one killed in its first instructions leaves half a page
      found.unreadable.push_back(error.message());
    }
  }
  if (failure) throw Error(ExitCode::io, failure.message(), directory.string());
  std::ranges::sort(found.images, {}, &HeapCounters::started_ns);
  return found;
}

}  // namespace memduel
