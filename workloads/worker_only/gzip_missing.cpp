// Takes the place of data/gzip.cpp in a worker that is built without zlib.
#include "gzip.h"
#include "util/error.h"

namespace memduel {

std::string gunzip(std::string_view /*bytes*/, const std::string& name, std::size_t /*limit*/) {
  throw Error(ExitCode::io, "the file is compressed, but this worker was built without zlib", name,
              "unpack it in place: gunzip -k");
}

}  // namespace memduel
