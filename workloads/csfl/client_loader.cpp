#include "csfl/client_loader.h"

#include <fmt/format.h>
#include <linux/close_range.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <utility>

#include "util/error.h"

namespace memduel {
namespace {

[[noreturn]] void refuse_worker(int error, const std::string& advice = {}) {
  throw Error(ExitCode::cannot_measure,
              fmt::format("cannot start a loader's worker: {}", std::strerror(error)),
              "switches.loader_workers", advice);
}

bool read_all(int socket, void* into, std::size_t size) {
  auto* at = static_cast<char*>(into);
  while (size > 0) {
    const ssize_t got = read(socket, at, size);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += got;
    size -= static_cast<std::size_t>(got);
  }
  return true;
}

bool send_all(int socket, const void* from, std::size_t size) {
  const auto* at = static_cast<const char*>(from);
  while (size > 0) {
    const ssize_t sent = send(socket, at, size, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return false;
    at += sent;
    size -= static_cast<std::size_t>(sent);
  }
  return true;
}

/// Nothing of the parent's stays open but this socket: its end is what the process waits for.
void keep_only(int socket) {
  if (socket > 3) syscall(SYS_close_range, 3, socket - 1, 0);
  syscall(SYS_close_range, socket + 1, ~0U, 0);
}

void serve(int socket, const LoaderProcess::Make& make) {
  for (;;) {
    std::uint64_t count = 0;
    if (!read_all(socket, &count, sizeof count)) return;
    std::vector<std::size_t> samples(count);
    if (!read_all(socket, samples.data(), count * sizeof(std::size_t))) return;
    const std::string bytes = make(samples);
    const std::uint64_t size = bytes.size();
    if (!send_all(socket, &size, sizeof size) || !send_all(socket, bytes.data(), bytes.size()))
      return;
  }
}

}  // namespace

LoaderProcess::LoaderProcess(const Make& make) {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) refuse_worker(errno);
  pid_ = fork();
  if (pid_ == 0) {
    keep_only(ends[1]);
    serve(ends[1], make);
    _exit(0);
  }
  const int failed = errno;
  close(ends[1]);
  socket_ = ends[0];
  if (pid_ > 0) return;
  close(socket_);
  refuse_worker(failed, "check the process limit (ulimit -u)");
}

LoaderProcess::LoaderProcess(LoaderProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), socket_(std::exchange(other.socket_, -1)) {}

LoaderProcess::~LoaderProcess() {
  if (pid_ <= 0) return;
  close(socket_);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

void LoaderProcess::ask(const std::vector<std::size_t>& samples) const {
  const std::uint64_t count = samples.size();
  send_all(socket_, &count, sizeof count);
  send_all(socket_, samples.data(), samples.size() * sizeof(std::size_t));
}

std::string LoaderProcess::answer() const {
  std::uint64_t size = 0;
  std::string bytes;
  if (read_all(socket_, &size, sizeof size)) {
    bytes.resize(size);
    if (read_all(socket_, bytes.data(), size)) return bytes;
  }
  throw Error(ExitCode::cannot_measure,
              fmt::format("a loader worker, process {}, exited before its batch was ready", pid_),
              "switches.loader_workers", "check dmesg: the kernel may have killed it for memory");
}

namespace {

/// Images, then labels.
std::string bytes_of(const Batch& batch) {
  std::string bytes(batch.images.nbytes() + batch.labels.nbytes(), '\0');
  std::memcpy(bytes.data(), batch.images.data_ptr(), batch.images.nbytes());
  std::memcpy(bytes.data() + batch.images.nbytes(), batch.labels.data_ptr(), batch.labels.nbytes());
  return bytes;
}

}  // namespace

ClientLoader::ClientLoader(const Samples& samples, const Indices& share, std::size_t batch_size,
                           const LoaderChoice& workers)
    : samples_(samples),
      share_(share),
      batch_size_(batch_size),
      choice_(workers),
      workers_(workers.are_processes ? 0 : workers.workers) {}

void ClientLoader::start_workers() {
  if (!choice_.are_processes || !processes_.empty()) return;
  for (int i = 0; i < choice_.workers; ++i)
    processes_.emplace_back([this](const Indices& indices) {
      torch::set_num_threads(1);  // the parent's other threads are not here
      return bytes_of(samples_.batch(indices));
    });
}

std::vector<Indices> ClientLoader::batches_of(std::uint64_t seed, std::size_t most) const {
  RandomEngine engine(seed);
  const std::vector<std::size_t> order = random_order(share_.size(), engine);
  std::vector<Indices> batches;
  for (std::size_t first = 0; first < order.size() && batches.size() < most;) {
    Indices& indices = batches.emplace_back();
    for (; indices.size() < batch_size_ && first < order.size(); ++first)
      indices.push_back(share_[order[first]]);
  }
  return batches;
}

Batch ClientLoader::read_batch(const std::string& bytes, std::size_t samples) const {
  std::vector<std::int64_t> shape = samples_.shape().vec();
  shape.insert(shape.begin(), static_cast<std::int64_t>(samples));
  const Batch batch{torch::empty(shape, torch::kFloat), torch::empty({shape[0]}, torch::kLong)};
  std::memcpy(batch.images.data_ptr(), bytes.data(), batch.images.nbytes());
  std::memcpy(batch.labels.data_ptr(), bytes.data() + batch.images.nbytes(), batch.labels.nbytes());
  return batch;
}

void ClientLoader::epoch(std::uint64_t seed, std::size_t most,
                         const std::function<void(const Batch&)>& step) {
  const std::vector<Indices> batches = batches_of(seed, most);
  if (processes_.empty()) {
    workers_.begin_epoch();
    for (const Indices& indices : batches) {
      const Batch batch = samples_.batch(indices);
      workers_.made(batch);
      step(batch);
    }
    return;
  }
  const auto worker = [&](std::size_t batch) -> const LoaderProcess& {
    return processes_[batch % processes_.size()];
  };
  std::size_t asked = 0;
  for (std::size_t i = 0; i < batches.size(); ++i) {
    for (; asked < std::min(batches.size(), i + kPrefetchFactor * processes_.size()); ++asked)
      worker(asked).ask(batches[asked]);
    step(read_batch(worker(i).answer(), batches[i].size()));
  }
}

void ClientLoader::drop_prefetched() {
  workers_.drop();
  processes_.clear();
}

}  // namespace memduel
