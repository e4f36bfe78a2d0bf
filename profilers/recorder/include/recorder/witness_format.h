// What the witness, a preloaded library, writes about the program images of one role: a file that
// exists before the first of them starts, and to which each adds lines with one write.
//
//   start PID PROVIDER<tab>PROGRAM   an image began; malloc comes from the file PROVIDER
//   exec PID kept|cleaned PROGRAM    it is about to execute PROGRAM, with the witness or without it
//   stayed PID                       it could not
//   spawn PID kept|cleaned PROGRAM   it has started PROGRAM as process PID
//
// A PROGRAM of exec or spawn without a slash is looked up in PATH. Control bytes become '?', and a
// line that would be longer than kWitnessLine is cut.
#pragma once

namespace memduel {

inline constexpr char kWitnessVariable[] = "MEMDUEL_WITNESS";  ///< the file, absolute
inline constexpr char kWitnessLibrary[] = "libmemduel_witness.so";
inline constexpr int kWitnessLine = 2048;  ///< bytes, with the newline

}  // namespace memduel
