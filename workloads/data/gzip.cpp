#include "gzip.h"

#include <fmt/format.h>
#include <zlib.h>

#include <array>
#include <memory>

#include "data/load.h"
#include "util/error.h"

namespace memduel {

std::string gunzip(std::string_view bytes, const std::string& name, std::size_t limit) {
  z_stream stream{};
  constexpr int kGzipWindow = 15 + 16;  // 15 bits of window, 16 asks for the gzip header
  if (inflateInit2(&stream, kGzipWindow) != Z_OK)
    throw Error(ExitCode::io, "zlib cannot read gzip here", name);
  const std::unique_ptr<z_stream, int (*)(z_stream*)> guard(&stream, inflateEnd);

  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  std::string out;
  std::array<char, 65536> buffer;
  int status = Z_OK;
  while (status == Z_OK) {
    stream.next_out = reinterpret_cast<Bytef*>(buffer.data());
    stream.avail_out = buffer.size();
    status = inflate(&stream, Z_NO_FLUSH);
    out.append(buffer.data(), buffer.size() - stream.avail_out);
    if (out.size() > limit)
      throw Error(ExitCode::io, fmt::format("the gzip file unpacks to more than {} bytes", limit),
                  name);
  }
  if (status != Z_STREAM_END)
    throw Error(ExitCode::io,
                fmt::format("gzip data is {} at byte {}: {}",
                            status == Z_BUF_ERROR ? "truncated" : "corrupt", stream.total_in,
                            stream.msg != nullptr ? stream.msg : zError(status)),
                name, kFetchAgain);
  return out;
}

}  // namespace memduel
