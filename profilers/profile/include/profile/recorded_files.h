// The files of the recorder, one per process image, and the profiles that people keep.
// read_heap_counters() reads the exact counters (.heap), of a running process, a finished one or
// one that was killed: the numbers of the meter `heap`. read_trace(), TraceWriter and TraceCursor
// find, check, unpack and write the blocks of a profile (.mdp; recorder/trace_format.h and
// docs/formats.md have the grammar), and profile_from_bytes() reads one. finish_profile() packs
// the blocks and adds names and an index; finish_images() does so for all images in a directory,
// and ImageFiles decides where the verb `record` puts them: the first image's file, which the user
// may name, and the later ones beside it or, where they are many, in a folder with an index.
#pragma once

#include <zstd.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "profile/function_names.h"
#include "profile/profile.h"
#include "recorder/trace_format.h"
#include "recorder/trace_records.h"
#include "util/bytes.h"

namespace memduel {

/// A round (phase empty) or one stretch of a process-wide phase. Bytes are block bytes (see
/// profilers/recorder/include/recorder/layout.h) but for allocated_bytes, which are requested
/// bytes. Times are CLOCK_MONOTONIC nanoseconds.
struct HeapScope {
  int round = 0;  ///< 0 outside rounds
  std::string phase;
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;  ///< 0 while it runs, or when the process died in it
  std::int64_t live_begin_bytes = 0;
  std::int64_t live_end_bytes = 0;
  std::int64_t peak_bytes = 0;
  std::int64_t mapping_peak_bytes = 0;
  std::int64_t mapping_end_bytes = 0;
  std::int64_t together_peak_bytes = 0;  ///< of heap and mappings below kSparseBytes
  std::int64_t together_end_bytes = 0;
  std::int64_t allocated_bytes = 0;
  std::int64_t allocations = 0;
};

struct HeapCounters : HeapTotals {
  std::int64_t pid = 0;
  std::int64_t parent_pid = 0;
  std::int64_t started_ns = 0;
  std::int64_t ended_ns = 0;  ///< 0: not known
  std::string program;        ///< /proc/self/exe
  std::string allocator;      ///< file that malloc comes from
  std::string mode;           ///< count, sampled or exact
  bool finished = false;  ///< ended through exit, _exit, abort or exec, not by a signal or inside
                          ///< libc (daemon(3))
  bool forked = false;    ///< a forked child that has not executed a program
  bool shut_out = false;  ///< it executed a program as a user who may not write its records
  bool replaced = false;  ///< it executed another program
  bool left_behind = false;  ///< it executed a program with an environment without the recorder
  std::int64_t inherited_bytes = 0;  ///< part of live_bytes that was there at the fork
  std::int64_t mapped_bytes = 0;
  std::int64_t mappings = 0;
  std::int64_t inherited_mapping_bytes = 0;  ///< part of mapping_bytes that was there at the fork
  std::int64_t dense_bytes = 0;              ///< part of mapping_bytes below kSparseBytes each
  std::int64_t inherited_dense_bytes = 0;    ///< likewise of dense_bytes
  std::int64_t file_peak_bytes = 0;          ///< resident pages of mapped files; 0: nobody looked
  bool has_sparse = false;  ///< it had mappings of kSparseBytes or more: what is touched is sampled
  std::vector<HeapScope> scopes;  ///< in the order they ended, then the running ones

  /// The process image with the most is the largest of several. The heap alone would hide
  /// interpreters and compilers, which map most of their memory themselves. What a forked process
  /// inherited is its parent's.
  [[nodiscard]] std::int64_t size_bytes() const {
    // One that was killed has not looked a last time how much of its large mappings is touched.
    if (!finished && has_sparse)
      return peak_bytes - inherited_bytes + mapping_peak_bytes - inherited_mapping_bytes;
    return together_peak_bytes - inherited_bytes - inherited_dense_bytes;
  }
  /// Whether the process lives on, as a daemon does that its starter has left.
  [[nodiscard]] bool still_runs() const;
  /// How far live and peak bytes may be off: 0 for one thread that ended by itself, 64 KiB per
  /// thread otherwise.
  [[nodiscard]] std::int64_t uncertainty_bytes() const;
};

/// How people are told which image is the largest.
inline constexpr const char* kLargestBy = "by peak heap and mappings";

/// Reads one `.heap` file. Throws Error(io) naming the file and what is wrong with it.
HeapCounters read_heap_counters(const std::filesystem::path& file);

struct HeapImages {
  std::vector<HeapCounters> images;     ///< in the order they started
  std::vector<std::string> unreadable;  ///< what is wrong with the others, each naming its file
};

/// What the images that ran in `directory` left. Throws Error(io) when the directory cannot be
/// read.
HeapImages read_heap_directory(const std::filesystem::path& directory);

struct TraceBlock {
  recorder::BlockType type{};
  std::string bytes;  ///< unpacked
};

/// How much of a file could be read.
struct TraceReading {
  int blocks = 0;          ///< read
  int damaged = 0;         ///< skipped: checksum or compression
  bool truncated = false;  ///< ends inside a block
  std::size_t bytes = 0;   ///< of the whole file
  bool indexed = false;    ///< ends with an index: the file was finished
};

/// Whether these bytes, or a file's, begin as one.
bool is_trace(std::string_view bytes);
bool is_trace_file(const std::filesystem::path& file);

/// Reads blocks of a file that may still grow. `name` is for messages.
class TraceReader {
 public:
  explicit TraceReader(std::string name) : name_(std::move(name)) {}

  /// Calls `visit` for each whole block at the beginning of `bytes`, which follow those that were
  /// taken before. Returns how many bytes it took. Throws Error(io) naming `name` when the file is
  /// not a profile at all, or one of another version.
  std::size_t take(std::string_view bytes, const std::function<void(const TraceBlock&)>& visit);
  /// Ends the reading; `left` are the bytes that take() has not taken. Throws as take() does.
  TraceReading finish(std::string_view left);
  [[nodiscard]] bool found_damage() const { return reading_.damaged > 0; }

 private:
  std::string name_;
  bool has_begun_ = false;
  TraceReading reading_;
};

/// Calls `visit` for each whole block in order. Throws Error(io) naming `name` when the bytes are
/// not a profile at all, or one of another version.
TraceReading read_trace(std::string_view bytes, const std::string& name,
                        const std::function<void(const TraceBlock&)>& visit);

/// How many blocks of a type begin in these bytes, by their headers alone.
std::size_t count_blocks(std::string_view bytes, recorder::BlockType type);

/// Of several snapshots the last counts: it is of the highest peak.
class LastSnapshot {
 public:
  LastSnapshot() = default;  ///< of a file without any
  explicit LastSnapshot(std::string_view bytes)
      : left_(count_blocks(bytes, recorder::BlockType::snapshot)) {}

  /// Of each block of a snapshot in their order: whether it belongs to the last one.
  bool has(recorder::BlockType type) {
    const bool is_last = left_ == 1;
    if (type == recorder::BlockType::snapshot && left_ > 0) --left_;
    return is_last;
  }

 private:
  std::size_t left_ = 0;
};

/// Builds a finished file: header, packed blocks, index.
class TraceWriter {
 public:
  TraceWriter();
  void add(recorder::BlockType type, std::string_view plain);
  /// The whole file. Ends the writer.
  std::string finish();

 private:
  struct Entry {
    recorder::BlockType type;
    std::uint64_t offset;
    std::uint32_t plain_bytes;
  };
  std::unique_ptr<ZSTD_CCtx, std::size_t (*)(ZSTD_CCtx*)> packer_;  ///< for all blocks
  std::string bytes_;
  std::vector<Entry> entries_;
};

/// Reads records, LEB128 numbers and texts; throws std::out_of_range at the end of the bytes.
class TraceCursor {
 public:
  explicit TraceCursor(std::string_view bytes) : bytes_(bytes) {}
  [[nodiscard]] bool at_end() const { return position_ == bytes_.size(); }
  [[nodiscard]] std::size_t position() const { return position_; }
  std::uint64_t number() {
    // Most numbers are one byte.
    if (position_ < bytes_.size() && static_cast<std::uint8_t>(bytes_[position_]) < 0x80)
      return static_cast<std::uint8_t>(bytes_[position_++]);
    return long_number();
  }
  std::string_view text();

  /// Reads the next record of a list and calls `take` with it.
  template <class... Records>
  void take_record(recorder::RecordList<Records...> /*list*/, const auto& take) {
    const std::uint8_t kind = byte();
    const auto take_if_it_is = [&]<class Record>(Record record) {
      if (kind != static_cast<std::uint8_t>(Record::kKind)) return false;
      record.code(*this);
      take(record);
      return true;
    };
    if (!(take_if_it_is(Records()) || ...)) throw_unknown(kind);
  }

  /// The operands of a record, in their order.
  void operator()(auto&... operands) { (read(operands), ...); }

 private:
  std::uint8_t byte() {
    if (at_end()) throw_end();
    return static_cast<std::uint8_t>(bytes_[position_++]);
  }
  std::uint64_t long_number();
  void read(std::uint64_t& value) { value = number(); }
  void read(std::int64_t& value) { value = unzigzag(number()); }
  void read(std::string_view& value) { value = text(); }
  void read(recorder::Address& address);
  [[noreturn]] static void throw_end();
  [[noreturn]] static void throw_unknown(std::uint8_t kind);

  std::string_view bytes_;
  std::size_t position_ = 0;
  std::uint64_t last_address_ = 0;
};

void put_text(std::string& bytes, std::string_view text);

/// Writes a record without an address.
template <class Record>
void put_record(std::string& bytes, Record record) {
  bytes.push_back(static_cast<char>(Record::kKind));
  const auto put = [&bytes]<class Operand>(const Operand& operand) {
    if constexpr (std::is_same_v<Operand, std::string_view>)
      put_text(bytes, operand);
    else if constexpr (std::is_signed_v<Operand>)
      put_varint(bytes, zigzag(operand));
    else
      put_varint(bytes, operand);
  };
  auto coder = [&](const auto&... operands) { (put(operands), ...); };
  record.code(coder);
}

/// Replays the blocks of a `.mdp` file one after the other.
class ProfileReplay {
 public:
  explicit ProfileReplay(LastSnapshot last_snapshot);
  ~ProfileReplay();
  ProfileReplay(const ProfileReplay&) = delete;
  ProfileReplay& operator=(const ProfileReplay&) = delete;

  void take(const TraceBlock& block);
  /// Ends the replay. What could not be read is in the profile's notes.
  Profile finish(const TraceReading& reading);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Reads the bytes of a `.mdp` file, finished or left behind by a killed program; what could not be
/// read is in the profile's notes. `name` is for messages. Throws Error(io) when nothing can be
/// read.
Profile profile_from_bytes(std::string_view bytes, const std::string& name);

/// What a file lost, in words; empty when it is whole.
std::string loss_of(const TraceReading& reading);

struct FinishedProfile {
  std::string bytes;
  Profile profile;  ///< as the bytes read back
};

/// What finish_profile() does, as the file grows.
class ProfileFinisher {
 public:
  explicit ProfileFinisher(std::string name, LastSnapshot last_snapshot = {});

  /// The bytes that follow those that were taken; returns how many it took. Throws Error(io) when
  /// they are no profile's.
  std::size_t take(std::string_view bytes);
  [[nodiscard]] bool found_damage() const { return reader_.found_damage(); }
  /// With the rest of the file.
  FinishedProfile finish(std::string_view left, const SymbolOptions& options,
                         const std::map<std::string, std::string>& more_info,
                         const std::optional<HeapTotals>& last);

 private:
  TraceReader reader_;
  LastSnapshot last_snapshot_;
  ProfileReplay replay_;
  TraceWriter writer_;
};

/// Packs the blocks of `recorded` with zstd and adds the names that can be found on this machine,
/// so that the file can be read anywhere. `more_info` is added to Profile::info. `last` are the
/// counters of a program that a signal ended: the file's own stop at its last block. Finishing a
/// finished file renews its names.
FinishedProfile finish_profile(std::string_view recorded, const std::string& name,
                               const SymbolOptions& options,
                               const std::map<std::string, std::string>& more_info = {},
                               const std::optional<HeapTotals>& last = std::nullopt);

struct RecordedImage {
  std::optional<std::filesystem::path> file;  ///< absent in count mode
  HeapCounters counters;
  std::optional<double> snapshot_bytes = std::nullopt;       ///< of its resident memory
  std::optional<double> peak_resident_bytes = std::nullopt;  ///< if it was to take a snapshot
};

/// The images that left a profile, in the order in which they started, from 1.
struct ImagePlan {
  std::vector<std::int64_t> pids;
  std::size_t largest = 0;  ///< by HeapCounters::size_bytes

  [[nodiscard]] std::size_t count() const { return pids.size(); }
};

struct KeepImages {
  /// The file that an image will have, for the others to name.
  std::function<std::filesystem::path(const ImagePlan&, std::size_t number)> file_of;
  /// Takes a finished profile. Returns its file, absent where it is kept in none.
  std::function<std::optional<std::filesystem::path>(const ImagePlan&, std::size_t number,
                                                     std::string_view bytes)>
      keep;
};

struct RecordedImages {
  std::vector<RecordedImage> images;
  std::vector<std::string> unreadable;  ///< why there is nothing of the others
};

class TraceFollower;

/// Finishes every profile in `directory`, in the order in which the images started, and has it
/// kept; where there are several, each names the largest. Goes on where `follower`, which has
/// stopped, is with a file. Throws as `keep` does.
RecordedImages finish_images(const std::filesystem::path& directory, const KeepImages& keep,
                             const SymbolOptions& symbols, TraceFollower* follower = nullptr);

/// A recording of more images than this has its later ones in a folder.
inline constexpr std::size_t kMostBeside = 8;

class ImageFiles {
 public:
  /// `output` is the first image's file; absent: NAME.PID.mdp in the current directory.
  ImageFiles(std::optional<std::filesystem::path> output, std::string name);

  /// Where the recorder may leave what is not finished.
  [[nodiscard]] std::filesystem::path workplace() const;

  /// FILE.mdp for the first of `plan`'s images; FILE.2.mdp, or FILE.images/2.mdp, for the second.
  [[nodiscard]] std::filesystem::path file_of(const ImagePlan& plan, std::size_t number) const;

  /// Writes the profile of an image; absent where a device or a pipe has no place for a second.
  std::optional<std::filesystem::path> keep(const ImagePlan& plan, std::size_t number,
                                            std::string_view bytes);

  /// Writes the index and removes what an earlier recording left beside the first file; says what
  /// was replaced and what is gone.
  std::vector<std::string> finish(const std::vector<RecordedImage>& images);

 private:
  [[nodiscard]] std::filesystem::path first_of(const ImagePlan& plan) const;
  [[nodiscard]] std::vector<std::string> remove_earlier(const std::filesystem::path& first) const;

  std::optional<std::filesystem::path> output_;
  std::string name_;
  std::vector<std::string> replaced_;
  std::optional<std::filesystem::path> first_;
  std::size_t written_ = 0;
  std::size_t without_file_ = 0;
  bool many_ = false;
};

/// FILE.images for FILE.mdp.
std::filesystem::path images_folder(const std::filesystem::path& first);

/// Where the image `number` of a recording is whose first image is in `first`; absent if its file
/// is not there.
std::optional<std::filesystem::path> file_of_image(const std::filesystem::path& first,
                                                   std::size_t number);

}  // namespace memduel
