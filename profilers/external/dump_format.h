// What memduel and libmemduel_dump.so, which it preloads beside another tool's profiler, agree on:
// the variables that the library reads, and the names of the files that it has the tool write.
//
//   DIRECTORY/<ns>-<pid>              the whole run of an image that started at that time
//   DIRECTORY/<ns>-<pid>.round<n>     at the end of round n
#pragma once

namespace memduel {

inline constexpr char kDumpedTool[] = "MEMDUEL_PROFILER";  ///< its name in tracers.cpp and dump.cpp
inline constexpr char kDumpDirectory[] = "MEMDUEL_PROFILER_DIR";
/// What heaptrack takes out of LD_PRELOAD, for the programs that the process executes.
inline constexpr char kDumpedPreload[] = "MEMDUEL_PROFILER_PRELOAD";
inline constexpr char kDumpRound[] = ".round";

}  // namespace memduel
