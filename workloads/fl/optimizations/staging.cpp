#include "staging.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "fl/transport.h"
#include "fl/worker_config.h"
#include "util/file.h"

namespace memduel {
namespace {

class SecondCopy final : public Staging {
 public:
  SecondCopy(std::size_t state_bytes, const std::filesystem::path& /*directory*/)
      : state_bytes_(state_bytes) {}

  void append(std::string_view bytes) override {
    staged_.reserve(state_bytes_);
    staged_.append(bytes);
  }

  void commit(const State& state) override {
    const char* from = staged_.data();
    for (const NamedTensor& entry : state) {
      const std::size_t bytes = entry.tensor.nbytes();
      fill_tensor(entry.tensor, [&](char* to) { std::memcpy(to, from, bytes); });
      from += bytes;
    }
    abandon();
  }

  void abandon() override { staged_ = Bytes(); }

 private:
  std::size_t state_bytes_;
  Bytes staged_;
};

class UnlinkedFile final : public Staging {
 public:
  UnlinkedFile(std::size_t state_bytes, const std::filesystem::path& directory)
      : directory_(directory.string()), file_(unnamed_file(directory)) {
    if (!file_) fail(errno);
    // A full disk shows before the first round, not in the middle of one.
    const int status = ::posix_fallocate(file_.get(), 0, static_cast<off_t>(state_bytes));
    if (status != 0) fail(status);
  }

  void append(std::string_view bytes) override {
    if (!write_all(file_.get(), bytes)) fail(errno);
  }

  void commit(const State& state) override {
    off_t offset = 0;
    for (const NamedTensor& entry : state) {
      const off_t end = offset + static_cast<off_t>(entry.tensor.nbytes());
      fill_tensor(entry.tensor, [&](char* to) { read_back(to, offset, end); });
      offset = end;
    }
    abandon();
  }

  void abandon() override { ::lseek(file_.get(), 0, SEEK_SET); }

 private:
  void read_back(char* to, off_t begin, off_t end) const {
    while (begin < end) {
      const ssize_t got = ::pread(file_.get(), to, static_cast<std::size_t>(end - begin), begin);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) fail(got < 0 ? errno : EIO);
      to += got;
      begin += got;
    }
  }

  [[noreturn]] void fail(int error) const {
    throw Error(ExitCode::io, fmt::format("the staging file failed: {}", std::strerror(error)),
                directory_, "staging=second_copy needs no disk");
  }

  std::string directory_;
  Descriptor file_;
};

using MakeStaging = std::unique_ptr<Staging> (*)(std::size_t, const std::filesystem::path&);

template <class Kind>
std::unique_ptr<Staging> make(std::size_t state_bytes, const std::filesystem::path& directory) {
  return std::make_unique<Kind>(state_bytes, directory);
}

constexpr Choice<MakeStaging> kStagingChoices[] = {{"second_copy", make<SecondCopy>},
                                                   {"unlinked_file", make<UnlinkedFile>}};

}  // namespace

std::unique_ptr<Staging> make_staging(const std::string& value, std::size_t state_bytes,
                                      const std::filesystem::path& directory) {
  return choose("staging", kStagingChoices, value)(state_bytes, directory);
}
std::vector<std::string> staging_values() {
  return values_of(kStagingChoices);
}

}  // namespace memduel
