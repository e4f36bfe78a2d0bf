// The fields of https://github.com/google/pprof/blob/main/proto/profile.proto, for the writer
// (export_pprof.cpp) and the reader (readers/pprof.cpp).
#pragma once

namespace memduel {

struct PprofProfile {
  enum Field : unsigned {
    sample_type = 1,
    sample = 2,
    mapping = 3,
    location = 4,
    function = 5,
    string_table = 6,
    period_type = 11,
    period = 12,
    comment = 13,
    default_sample_type = 14,
  };
};

struct PprofValueType {
  enum Field : unsigned { type = 1, unit = 2 };
};

struct PprofSample {
  enum Field : unsigned { location_id = 1, value = 2, label = 3 };
};

struct PprofLabel {
  enum Field : unsigned { key = 1, str = 2 };
};

struct PprofMapping {
  enum Field : unsigned {
    id = 1,
    memory_start = 2,
    memory_limit = 3,
    file_offset = 4,
    filename = 5,
    build_id = 6,
    has_functions = 7,
    has_filenames = 8,
    has_line_numbers = 9,
    has_inline_frames = 10,
  };
};

struct PprofLocation {
  enum Field : unsigned { id = 1, mapping_id = 2, address = 3, line = 4 };
};

struct PprofLine {
  enum Field : unsigned { function_id = 1, line = 2 };
};

struct PprofFunction {
  enum Field : unsigned { id = 1, name = 2, system_name = 3, filename = 4 };
};

/// The types of values of a heap profile, each followed by _objects and _space.
inline constexpr const char* kPprofAllocated = "alloc";
inline constexpr const char* kPprofLive = "inuse";
inline constexpr const char* kPprofPeak = "peak";
inline constexpr const char* kPprofTemporary = "temporary";
inline constexpr const char* kPprofResident = "resident";  ///< where there is a snapshot

}  // namespace memduel
