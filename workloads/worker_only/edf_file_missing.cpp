// Takes the place of eeg/edf_file.cpp in a worker that is built without EDFlib.
#include "base/error.h"
#include "workloads/eeg/edf_file.h"

namespace memduel {

EegRecording read_edf(const std::filesystem::path& path) {
  throw Error(ExitCode::io, "this worker was built without EDFlib", path.string(),
              "build preset release, or use the data set synthetic-eeg");
}

}  // namespace memduel
