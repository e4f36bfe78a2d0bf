// The records in a profile file's blocks of events and of pages. Each is described once, by a
// struct with its kind and, in `code`, its operands in their order: the recorder writes it with an
// EventWriter, profilers/profile/ reads and writes it with TraceCursor and put_record.
//
// A record is the byte of its kind and its operands: a std::uint64_t as LEB128, a std::int64_t as
// zigzag, a text as its length and its bytes, an Address as the signed difference to the last one
// of the block, in units of 8 bytes.
#pragma once

#include <cstdint>
#include <string_view>

namespace memduel::recorder {

inline constexpr std::uint32_t kRootNode = 0;  ///< nodes are numbered from 1

struct Address {
  std::uint64_t value;
};

/// A list of records, for a reader to choose from.
template <class... Records>
struct RecordList {};

enum class Event : std::uint8_t {};

namespace events {

/// What a block begins with.
struct Counters {
  static constexpr Event kKind{1};
  std::uint64_t time_ns, next_node;
  std::int64_t live_bytes;
  std::uint64_t peak_bytes, allocated_bytes, allocations;
  std::int64_t mapping_bytes;
  std::uint64_t mapping_peak_bytes, lost, threads;
  void code(auto& coder) {
    coder(time_ns, next_node, live_bytes, peak_bytes, allocated_bytes, allocations, mapping_bytes,
          mapping_peak_bytes, lost, threads);
  }
};

/// From now on at [begin, end).
struct Module {
  static constexpr Event kKind{2};
  std::uint64_t begin, end, bias;
  std::string_view build_id;  ///< raw
  std::string_view path;
  void code(auto& coder) { coder(begin, end, bias, build_id, path); }
};

/// A native frame.
struct Node {
  static constexpr Event kKind{3};
  std::uint64_t parent;
  std::int64_t step;  ///< from the last node's address, whichever block that is in
  void code(auto& coder) { coder(parent, step); }
};

/// A Python code object; they are numbered from 0.
template <class Text = std::string_view>
struct Code {
  static constexpr Event kKind{4};
  Text name;  ///< qualified
  Text file;
  void code(auto& coder) { coder(name, file); }
};

/// A Python frame, numbered like a native one.
struct Python {
  static constexpr Event kKind{5};
  std::uint64_t parent, code_object, line;
  void code(auto& coder) { coder(parent, code_object, line); }
};

/// Whose events follow.
struct Thread {
  static constexpr Event kKind{6};
  std::uint64_t thread;
  void code(auto& coder) { coder(thread); }
};

struct Allocation {
  static constexpr Event kKind{7};
  std::uint64_t node, requested_bytes;
  std::int64_t extra_bytes;  ///< of the block, beyond the requested ones
  Address at;
  void code(auto& coder) { coder(node, requested_bytes, extra_bytes, at); }
};

struct Free {
  static constexpr Event kKind{8};
  Address at;
  void code(auto& coder) { coder(at); }
};

/// The thread's last free did not happen (a realloc failed).
struct Revive {
  static constexpr Event kKind{9};
  Address at;
  void code(auto& coder) { coder(at); }
};

struct Mapping {
  static constexpr Event kKind{10};
  std::uint64_t node, bytes;
  Address at;
  void code(auto& coder) { coder(node, bytes, at); }
};

/// May cover parts of mappings.
struct Unmapping {
  static constexpr Event kKind{11};
  std::uint64_t bytes;
  Address at;
  void code(auto& coder) { coder(bytes, at); }
};

struct Mark {
  static constexpr Event kKind{12};
  std::uint64_t time_ns;
  std::uint64_t kind;  ///< of annotate.h
  std::int64_t round;
  std::string_view phase;
  void code(auto& coder) { coder(time_ns, kind, round, phase); }
};

/// Of the running thread.
struct ThreadPhase {
  static constexpr Event kKind{13};
  std::string_view phase;
  void code(auto& coder) { coder(phase); }
};

/// The mean from which the draws of the following samples came.
struct Interval {
  static constexpr Event kKind{14};
  std::uint64_t bytes;
  void code(auto& coder) { coder(bytes); }
};

/// Of a part of a mapping, as the kernel has it now. Since version 2.
struct Touched {
  static constexpr Event kKind{15};
  std::uint64_t touched_bytes, bytes;
  Address at;
  void code(auto& coder) { coder(touched_bytes, bytes, at); }
};

/// The most frequent first.
using All = RecordList<Allocation, Free, Node, Thread, Interval, Python, Mapping, Unmapping,
                       Touched, Revive, Mark, ThreadPhase, Module, Code<>, Counters>;

}  // namespace events

/// What the blocks of a snapshot contain. Pages are of 4096 bytes.
enum class PageRecord : std::uint8_t {};

enum MappingFlag : std::uint32_t { kMappingWritable = 1, kMappingShared = 2 };

namespace pages {

struct Begin {
  static constexpr PageRecord kKind{1};
  std::uint64_t time_ns, round;
  std::string_view phase;
  std::uint64_t tells_blocks;  ///< 1 if Block records tell what is live, else the events before do
  void code(auto& coder) { coder(time_ns, round, phase, tells_blocks); }
};

struct Mapping {
  static constexpr PageRecord kKind{2};
  std::uint64_t first_page, pages;
  std::uint64_t flags;  ///< MappingFlag
  std::uint64_t resident_bytes;
  std::uint64_t alone_bytes;  ///< of these, mapped by no other process
  std::string_view name;
  void code(auto& coder) { coder(first_page, pages, flags, resident_bytes, alone_bytes, name); }
};

/// Resident pages of the last mapping.
struct Pages {
  static constexpr PageRecord kKind{3};
  std::uint64_t gap;  ///< in pages, since the last run
  std::uint64_t pages;
  std::uint64_t file;  ///< 1 if file-backed
  void code(auto& coder) { coder(gap, pages, file); }
};

struct Stack {
  static constexpr PageRecord kKind{4};
  std::uint64_t address;  ///< near the top of a thread's stack
  void code(auto& coder) { coder(address); }
};

/// The recorder's (own), mapped by the allocator, or one of glibc's further arenas.
template <std::uint8_t kNumber>
struct Range {
  static constexpr PageRecord kKind{kNumber};
  std::uint64_t address, bytes;
  void code(auto& coder) { coder(address, bytes); }
};
using Own = Range<5>;
using Allocator = Range<6>;
using Arena = Range<9>;

/// A live one.
struct Block {
  static constexpr PageRecord kKind{8};
  std::uint64_t node, requested_bytes, extra_bytes;
  std::uint64_t round;  ///< of its allocation
  std::uint64_t address;
  void code(auto& coder) { coder(node, requested_bytes, extra_bytes, round, address); }
};

struct End {
  static constexpr PageRecord kKind{7};
  std::uint64_t resident_bytes;  ///< by smaps_rollup
  std::uint64_t swapped_bytes, hugetlb_bytes;
  std::uint64_t nanoseconds;  ///< that it took
  std::uint64_t zeros_apart;  ///< 1 if the kernel tells pages of zeros apart
  void code(auto& coder) {
    coder(resident_bytes, swapped_bytes, hugetlb_bytes, nanoseconds, zeros_apart);
  }
};

using All = RecordList<Pages, Block, Mapping, Stack, Own, Allocator, Arena, Begin, End>;

}  // namespace pages

}  // namespace memduel::recorder
