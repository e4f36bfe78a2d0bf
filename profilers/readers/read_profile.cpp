#include "readers/read_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "formats.h"
#include "profile/function_names.h"
#include "profile/recorded_files.h"
#include "readers/foreign_files.h"
#include "readers/plain_source.h"
#include "util/error.h"
#include "util/file.h"

namespace memduel {

namespace {

constexpr std::array kFormats = {
    ProfileFormat{"heaptrack", "traces, raw or interpreted", is_heaptrack, read_heaptrack},
    ProfileFormat{"gperftools heap", "dumps of HEAPPROFILE and heap samples", is_gperftools_heap,
                  read_gperftools_heap},
    ProfileFormat{"jemalloc", "heap profiles (heap_v2)", is_jemalloc_heap, read_jemalloc_heap},
    ProfileFormat{"memray", "captures, as memduel keeps them", is_memray_capture,
                  read_memray_capture},
    ProfileFormat{"memray gprof2dot", "memray transform gprof2dot", is_memray_gprof2dot,
                  read_memray_gprof2dot},
    ProfileFormat{"memray stats", "memray stats --json", is_memray_stats, read_memray_stats},
    ProfileFormat{"pprof", "protobuf, of heaps and of CPU time", is_pprof, read_pprof},
    ProfileFormat{"folded stacks", "lines FRAME;FRAME… NUMBER", is_folded, read_folded},
};

}  // namespace

std::span<const ProfileFormat> profile_formats() {
  return kFormats;
}

Profile read_foreign_profile(PlainSource& source, const SymbolOptions& symbols) {
  if (source.head().empty()) source.fail("the file is empty");
  if (const ForeignFile* kind = foreign_file(source.head()))
    throw Error(ExitCode::io, fmt::format("is {}, and no profile that memduel reads", kind->name),
                source.name(), next_step_for(*kind, source.name()));
  for (const ProfileFormat& format : kFormats) {
    if (!format.recognises(source.head())) continue;
    Profile profile = format.read(source, symbols);
    profile.info.emplace("profiler", format.name);
    return profile;
  }
  std::string known = "memduel record";
  for (const ProfileFormat& format : kFormats) known += fmt::format(", {}", format.name);
  source.fail("no profile of a known format (" + known + ")");
}

bool is_profile(const std::filesystem::path& file) {
  std::error_code unreadable;
  if (!std::filesystem::is_regular_file(file, unreadable)) return false;
  if (is_trace_file(file)) return true;
  const PlainSource source(file);
  return foreign_file(source.head()) == nullptr &&
         std::ranges::any_of(kFormats, [&](const ProfileFormat& format) {
           return format.recognises(source.head());
         });
}

Profile read_profile(const std::filesystem::path& file) {
  const SymbolOptions symbols{default_symbol_cache(), false};
  std::error_code unreadable;
  const bool pipe = std::filesystem::is_fifo(file, unreadable);  // gives its bytes once
  if (!pipe && !is_trace_file(file)) {
    PlainSource source(file);
    return read_foreign_profile(source, symbols);
  }
  const std::string bytes = read_file(file);
  if (!is_trace(bytes)) {
    PlainSource source(bytes, file.string());
    return read_foreign_profile(source, symbols);
  }
  Profile profile = profile_from_bytes(bytes, file.string());
  // Its names stand in it unless it was left behind by a killed `memduel record`.
  if (!profile.info.contains("end")) {
    if (!profile.is_recovered) {
      profile.notes.emplace_back(
          "memduel record did not finish this file: it was killed, or not there, or the file may "
          "be cut off");
    }
    symbolize(profile, symbols);
  }
  name_runtime_memory(profile);
  return profile;
}

}  // namespace memduel
