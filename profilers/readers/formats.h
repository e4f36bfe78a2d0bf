// The readers of other tools' profiles: of each format whether a file begins like one (is_), and
// its profile (read_).
//
// Folded stacks, one a line: frames from the outermost, between semicolons, and a number
// (flamegraph.pl, `heaptrack_print -F`, perf's stackcollapse, memduel export --format folded).
//
// The heap profiles of gperftools: dumps of HEAPPROFILE, which count every block, and samples of
// tcmalloc (MallocExtension::GetHeapSample). gperftools up to 2.15 builds a dump in 1 MiB and
// leaves out the stacks for which there is no room without a word; only the totals in the first
// line tell. What is missing becomes a stack of its own, so that totals are right.
//
// heaptrack's traces, raw (`heaptrack --raw`) and interpreted, without heaptrack_print. A line is a
// letter and hexadecimal numbers; src/util/linewriter.h and src/interpret of
// https://invent.kde.org/sdk/heaptrack write them. File versions 1 to 3 are read.
//
// The heap profiles of jemalloc (heap_v2, since 4.0): samples of the allocator's own profiler.
//
// The JSON that memray writes: `memray transform gprof2dot` and `memray stats --json`
// (https://github.com/bloomberg/memray, src/memray/reporters/transform.py and stats.py), and what
// profilers/external/memray/read_capture.py makes of a capture with memray's own reader.
//
// pprof's protobuf (profile.proto), gzipped as pprof writes it or plain: what Go, gperftools'
// successors, jemalloc's and tcmalloc's servers, and memduel export leave.
#pragma once

#include <string_view>

#include "profile/function_names.h"
#include "profile/profile.h"

namespace memduel {

class PlainSource;

/// Its first line must be one.
bool is_folded(std::string_view head);

/// The format does not say what it counts: bytes, in `allocated`.
Profile read_folded(PlainSource& source, const SymbolOptions& symbols);

bool is_gperftools_heap(std::string_view head);

/// Live at the dump, and allocated where the dump has it. Requested bytes; samples are unbiased.
Profile read_gperftools_heap(PlainSource& source, const SymbolOptions& symbols);

bool is_heaptrack(std::string_view head);

/// Peak, live at the end (heaptrack's leaks, before suppressions), allocated and temporary, as
/// heaptrack counts them: temporary is what the very next event freed. Requested bytes.
Profile read_heaptrack(PlainSource& source, const SymbolOptions& symbols);

bool is_jemalloc_heap(std::string_view head);

/// Live at the dump, and allocated where the program ran with prof_accum. Unbiased as jeprof does
/// it. Bytes of size classes, which are larger than what was asked for.
Profile read_jemalloc_heap(PlainSource& source, const SymbolOptions& symbols);

bool is_memray_capture(std::string_view head);
/// The peak and what was live at the end by stack, with lines. Requested bytes.
Profile read_memray_capture(PlainSource& source, const SymbolOptions& symbols);

bool is_memray_gprof2dot(std::string_view head);
/// The peak by stack (with `--leaks` what leaked, which the file does not say): functions and files
/// without lines, bytes without counts of blocks.
Profile read_memray_gprof2dot(PlainSource& source, const SymbolOptions& symbols);

bool is_memray_stats(std::string_view head);
/// What the largest places allocated, one frame each, and all others together.
Profile read_memray_stats(PlainSource& source, const SymbolOptions& symbols);

bool is_pprof(std::string_view head);

/// The values alloc, inuse, peak and temporary (_objects and _space) become allocated, live, peak
/// and temporary; objects and space become live. Of a profile with none of them, the values of its
/// default type. Labels round, phase and heap are read as memduel export writes them. The
/// values are unbiased already; with the file's period their counts tell how sure they are.
Profile read_pprof(PlainSource& source, const SymbolOptions& symbols);

}  // namespace memduel
