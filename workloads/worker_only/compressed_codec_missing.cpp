// Takes the place of fl/transport/compressed_codec.cpp in a worker that is built without blosc and
// zfp. Switch compression is refused before anything asks for these
// (fl/optimizations/compression.cpp).
#include "transport/compressed_codec.h"
#include "util/error.h"

namespace memduel {
namespace {

[[noreturn]] void refuse_compression() {
  throw Error(ExitCode::usage, "this worker was built without blosc and zfp",
              "switches.compression");
}

}  // namespace

bool has_compressors() {
  return false;
}

std::optional<double> lossy_tolerance(const TensorRecord& /*record*/, std::string_view /*data*/) {
  return std::nullopt;
}

Bytes compress_tensor(const TensorRecord& /*record*/, std::string_view /*data*/,
                      std::optional<double> /*tolerance*/) {
  refuse_compression();
}

std::string encode_compressed_head(const StateTable& /*table*/) {
  refuse_compression();
}

CompressedState decode_compressed(std::string_view /*bytes*/, const std::string& /*from*/) {
  refuse_compression();
}

void expand_tensor(const TensorRecord& /*record*/, const std::vector<CompressedPiece>& /*pieces*/,
                   char* /*to*/, const std::string& /*from*/) {
  refuse_compression();
}

}  // namespace memduel
