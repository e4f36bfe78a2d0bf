// Bytes of a file or of memory through gzip or zstd, whichever they are packed with, or as they
// are.
#pragma once

#include <zlib.h>
#include <zstd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>

namespace memduel {

class Unpacker {
 public:
  /// Throws Error(io) naming the file and the system's reason.
  explicit Unpacker(const std::filesystem::path& file);
  Unpacker(std::string_view bytes, std::string name);
  ~Unpacker();
  Unpacker(Unpacker&&) = delete;
  Unpacker& operator=(Unpacker&&) = delete;
  Unpacker(const Unpacker&) = delete;
  Unpacker& operator=(const Unpacker&) = delete;

  /// Up to `size` unpacked bytes; 0 at the end. Throws Error(io) with the offset in the packed file
  /// where the packing is damaged or ends early.
  std::size_t read(char* to, std::size_t size);

  [[nodiscard]] bool packed() const { return packing_ != Packing::none; }

 private:
  enum class Packing { none, gzip, zstd };

  void recognise();
  bool refill();
  std::size_t read_gzip(char* to, std::size_t size);
  std::size_t read_zstd(char* to, std::size_t size);
  [[noreturn]] void fail(const char* packing, const char* problem) const;

  std::string name_;
  std::ifstream file_;
  bool from_file_ = false;
  std::string chunk_;
  std::string_view input_;      ///< not yet unpacked
  std::uint64_t consumed_ = 0;  ///< packed bytes before `input_`
  Packing packing_ = Packing::none;
  bool inside_ = false;  ///< a frame or member that has begun and not ended
  z_stream gzip_{};
  std::unique_ptr<ZSTD_DStream, std::size_t (*)(ZSTD_DStream*)> zstd_{nullptr, &ZSTD_freeDStream};
};

}  // namespace memduel
