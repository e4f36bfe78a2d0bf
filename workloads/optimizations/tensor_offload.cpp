#include "workloads/optimizations/tensor_offload.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "workloads/optimizations/aggregate.h"
#include "workloads/optimizations/choice.h"

namespace memduel {
namespace {

constexpr Choice<TensorOffload> kTensorOffload[] = {{"none", TensorOffload::none},
                                                    {"disk", TensorOffload::disk}};

/// Larger ones are streamed and offloaded, as NVFlare does with arrays.
constexpr std::size_t kInlineBytes = std::size_t{2} << 20;
constexpr std::size_t kBufferBytes = std::size_t{256} << 10;

/// A file without a name: gone with its last mapping, however the process ends.
class TensorFile {
 public:
  explicit TensorFile(const std::filesystem::path& directory) : directory_(directory.string()) {
    std::string name = directory_ + "/tensor-XXXXXX";
    fd_ = ::mkostemp(name.data(), O_CLOEXEC);
    if (fd_ < 0) refuse(errno);
    ::unlink(name.c_str());
  }
  TensorFile(const TensorFile&) = delete;
  TensorFile& operator=(const TensorFile&) = delete;
  ~TensorFile() { ::close(fd_); }

  void append(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t written = ::write(fd_, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) refuse(errno);
      bytes.remove_prefix(static_cast<std::size_t>(written));
    }
  }

  /// Read-only, and alive with the tensor.
  [[nodiscard]] at::Tensor map(const TensorRecord& record) const {
    const std::size_t bytes = record.bytes;
    void* data = ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, fd_, 0);
    if (data == MAP_FAILED) refuse(errno);
    return torch::from_blob(
        data, record.shape, [bytes](void* mapped) { ::munmap(mapped, bytes); },
        torch_dtype(record.dtype));
  }

 private:
  [[noreturn]] void refuse(int error) const {
    throw Error(ExitCode::io,
                fmt::format("an offloaded tensor's file failed: {}", std::strerror(error)),
                directory_, "tensor_offload=none needs no disk");
  }

  std::string directory_;
  int fd_ = -1;
};

class OffloadingReceiver final : public ModelReceiver {
 public:
  OffloadingReceiver(const Framing& framing, std::filesystem::path directory)
      : framing_(framing), directory_(std::move(directory)) {}

  [[nodiscard]] IncomingModel receive(Call& call, CallFrame& /*frame*/,
                                      const State* /*into*/) const override {
    const std::unique_ptr<ModelStream> stream = framing_.open(call);
    State state;
    for (const TensorRecord& record : stream->read_table().tensors)
      state.push_back({record.name, record.bytes > kInlineBytes ? offload(*stream, record)
                                                                : read_inline(*stream, record)});
    stream->expect_end();
    return {stream->header(), std::move(state)};
  }

 private:
  [[nodiscard]] at::Tensor offload(ModelStream& stream, const TensorRecord& record) const {
    const TensorFile file(directory_);
    std::string buffer(kBufferBytes, '\0');
    for (std::size_t left = record.bytes; left > 0;) {
      const std::size_t some = std::min(left, buffer.size());
      stream.read_data(buffer.data(), some);
      file.append(std::string_view(buffer).substr(0, some));
      left -= some;
    }
    return file.map(record);
  }

  static at::Tensor read_inline(ModelStream& stream, const TensorRecord& record) {
    const at::Tensor tensor = torch::empty(record.shape, torch_dtype(record.dtype));
    stream.read_data(mutable_bytes_of(tensor), record.bytes);
    return tensor;
  }

  const Framing& framing_;
  std::filesystem::path directory_;
};

}  // namespace

TensorOffload choose_tensor_offload(const std::string& value) {
  return choose("tensor_offload", kTensorOffload, value);
}

void expect_offloadable(TensorOffload offload, const std::string& aggregate) {
  if (offload == TensorOffload::none || aggregate == kCollectAll || aggregate == kInTime) return;
  throw Error(ExitCode::usage,
              fmt::format("found disk with aggregate \"{}\", expected {} or {}", aggregate,
                          kCollectAll, kInTime),
              "optimizations.tensor_offload", "the others read all uploads at once");
}

std::unique_ptr<ModelReceiver> make_offloading_receiver(const Framing& framing,
                                                        std::filesystem::path directory) {
  return std::make_unique<OffloadingReceiver>(framing, std::move(directory));
}

}  // namespace memduel
