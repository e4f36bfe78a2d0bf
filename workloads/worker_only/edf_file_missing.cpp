// Takes the place of cbramod/edf_file.cpp in a worker that is built without EDFlib.
#include "eeg_recording.h"
#include "util/error.h"

namespace memduel {

EegRecording read_edf(const std::filesystem::path& path) {
  throw Error(ExitCode::io, "this worker was built without EDFlib", path.string(),
              "build preset release, or use the data set synthetic-eeg");
}

}  // namespace memduel
