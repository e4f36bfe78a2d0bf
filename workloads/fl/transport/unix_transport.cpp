// Messages on a stream socket: a frame is a letter that says what it is, its length in four bytes,
// the lowest first, and its bytes.

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <condition_variable>
#include <cstddef>
#include <cstring>
#include <list>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>

#include "access_token.h"
#include "fl/transport.h"
#include "util/error.h"
#include "util/file.h"

namespace memduel {

class Socket {
 public:
  explicit Socket(int fd) : descriptor_(fd) {}

  [[nodiscard]] int fd() const { return descriptor_.get(); }
  void shut_down() const noexcept;
  /// Of every single send and receive.
  void set_deadline(double seconds) const;

 private:
  Descriptor descriptor_;
};

struct Frame {
  char kind = 0;
  std::string bytes;
};

/// Sends and receives frames on one connection. Throws PeerGone where that breaks,
/// Error(cannot_measure) on a frame of more than `most_bytes`.
class Frames {
 public:
  Frames(Socket socket, std::size_t most_bytes, std::string peer)
      : socket_(std::move(socket)), most_bytes_(most_bytes), peer_(std::move(peer)) {}

  void send(char kind, std::span<const Segment> segments);

  /// Absent when the peer closed between two frames.
  std::optional<Frame> receive();

  void shut_down() const noexcept { socket_.shut_down(); }
  void set_deadline(double seconds) const { socket_.set_deadline(seconds); }
  [[nodiscard]] const std::string& peer() const { return peer_; }

 private:
  void expect_no_more_than_the_limit(std::size_t size) const;
  void send_all(std::string_view bytes);
  /// False when the peer closed before the first byte.
  bool receive_all(char* to, std::size_t size);

  Socket socket_;
  std::size_t most_bytes_;
  std::string peer_;
};

namespace {

constexpr const char* kClosedWithin = "the peer closed within a message";

constexpr std::size_t kHeaderBytes = 5;

}  // namespace

void Socket::shut_down() const noexcept {
  ::shutdown(fd(), SHUT_RDWR);
}

void Socket::set_deadline(double seconds) const {
  timeval limit{};
  limit.tv_sec = static_cast<time_t>(seconds);
  limit.tv_usec = static_cast<suseconds_t>((seconds - static_cast<double>(limit.tv_sec)) * 1e6);
  ::setsockopt(fd(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  ::setsockopt(fd(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
}

void Frames::expect_no_more_than_the_limit(std::size_t size) const {
  if (size > most_bytes_)
    throw Error(ExitCode::cannot_measure,
                fmt::format("a message of {} bytes exceeds the limit of {}", size, most_bytes_),
                peer_);
}

void Frames::send(char kind, std::span<const Segment> segments) {
  std::size_t size = 0;
  for (const Segment& segment : segments) size += segment.bytes.size();
  expect_no_more_than_the_limit(size);
  std::array<char, kHeaderBytes> header{kind};
  for (std::size_t i = 0; i < 4; ++i) header[1 + i] = static_cast<char>(size >> (8 * i) & 0xff);
  send_all({header.data(), header.size()});
  for (const Segment& segment : segments) send_all(segment.bytes);
}

std::optional<Frame> Frames::receive() {
  std::array<char, kHeaderBytes> header{};
  if (!receive_all(header.data(), header.size())) return std::nullopt;
  std::size_t size = 0;
  for (std::size_t i = 0; i < 4; ++i)
    size |= static_cast<std::size_t>(static_cast<std::uint8_t>(header[1 + i])) << (8 * i);
  expect_no_more_than_the_limit(size);
  Frame frame{header[0], std::string(size, '\0')};
  if (!receive_all(frame.bytes.data(), size)) throw PeerGone(kClosedWithin, peer_);
  return frame;
}

void Frames::send_all(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket_.fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) throw PeerGone(fmt::format("the peer is gone: {}", std::strerror(errno)), peer_);
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

bool Frames::receive_all(char* to, std::size_t size) {
  std::size_t done = 0;
  while (done < size) {
    const ssize_t got = ::recv(socket_.fd(), to + done, size - done, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw PeerGone(fmt::format("nothing received: {}", std::strerror(errno)), peer_);
    if (got == 0 && done == 0) return false;
    if (got == 0) throw PeerGone(kClosedWithin, peer_);
    done += static_cast<std::size_t>(got);
  }
  return true;
}

namespace {

constexpr std::string_view kScheme = "unix-abstract:";
/// In which a client says who it is; who does not holds a descriptor for nothing.
constexpr double kGreetingSeconds = 10;
constexpr std::chrono::milliseconds kBackOff{50};

[[noreturn]] void fail(const std::string& what, const std::string& peer) {
  throw Error(ExitCode::cannot_measure, what, peer);
}

Message to_message(Frame frame) {
  const auto owner = std::make_shared<const std::string>(std::move(frame.bytes));
  return {{*owner}, owner};
}

class UnixServerCall final : public Call {
 public:
  UnixServerCall(Frames& frames, std::string caller)
      : frames_(frames), caller_(std::move(caller)) {}

  std::optional<Message> read() override {
    if (ended_) return std::nullopt;
    std::optional<Frame> frame = frames_.receive();
    if (!frame) throw PeerGone(kCallBrokenOff, peer());
    ended_ = frame->kind == 'E';
    if (ended_) return std::nullopt;
    return to_message(std::move(*frame));
  }

  void write(std::span<const Segment> segments) override { frames_.send('D', segments); }
  void cancel() noexcept override { frames_.shut_down(); }
  [[nodiscard]] const std::string& peer() const override { return caller_; }

 private:
  Frames& frames_;
  std::string caller_;
  bool ended_ = false;
};

class UnixClientCall final : public ClientCall {
 public:
  UnixClientCall(Socket socket, Method method, const TransportOptions& options,
                 const std::string& peer, const std::string& caller)
      : frames_(std::move(socket), options.max_message_bytes, peer) {
    const Segment token{options.token, nullptr};
    send('T', {&token, 1});
    const Segment name{method_name(method), nullptr};
    send('M', {&name, 1});
    const Segment self{caller, nullptr};
    send('N', {&self, 1});
  }

  std::optional<Message> read() override {
    if (verdict_) return std::nullopt;
    std::optional<Frame> frame = frames_.receive();
    if (!frame) fail("the server closed the call", peer());
    if (frame->kind == 'D') return to_message(std::move(*frame));
    verdict_ = std::move(frame);
    return std::nullopt;
  }

  void write(std::span<const Segment> segments) override { send('D', segments); }
  void finish_writing() override { send('E', {}); }

  void finish() override {
    while (read()) {
    }
    if (verdict_->kind != 'E') fail(verdict_->bytes, peer());
  }

  void cancel() noexcept override { frames_.shut_down(); }
  [[nodiscard]] const std::string& peer() const override { return frames_.peer(); }

 private:
  /// A server that has refused the call hangs up without hearing the rest: its words, which lie
  /// in the socket, say more than the broken pipe.
  void send(char kind, std::span<const Segment> segments) {
    try {
      frames_.send(kind, segments);
    } catch (const PeerGone&) {
      hear_verdict();
      if (verdict_ && verdict_->kind != 'E') fail(verdict_->bytes, peer());
      throw;
    }
  }

  void hear_verdict() noexcept {
    try {
      while (read()) {
      }
    } catch (const std::exception&) {  // it hung up without one
      verdict_.reset();
    }
  }

  Frames frames_;
  std::optional<Frame> verdict_;
};

/// An abstract address: a zero byte and the name.
sockaddr_un abstract_address(std::string_view name, socklen_t& length) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::size_t size = std::min(name.size(), sizeof address.sun_path - 1);
  std::memcpy(address.sun_path + 1, name.data(), size);
  length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + size);
  return address;
}

class UnixClient final : public ClientTransport {
 public:
  UnixClient(TransportOptions options, const std::string& address, std::string caller)
      : options_(std::move(options)), peer_("server " + address), caller_(std::move(caller)) {
    if (!address.starts_with(kScheme)) fail("not the address of a Unix-socket server", address);
    name_ = address.substr(kScheme.size());
  }

  void connect(std::chrono::milliseconds /*within*/) override { open(); }

  std::unique_ptr<ClientCall> start(Method method) override {
    return std::make_unique<UnixClientCall>(open(), method, options_, peer_, caller_);
  }

 private:
  Socket open() {
    Socket socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    socket.set_deadline(options_.deadline_seconds);
    socklen_t length = 0;
    const sockaddr_un address = abstract_address(name_, length);
    if (::connect(socket.fd(), reinterpret_cast<const sockaddr*>(&address), length) != 0)
      fail(fmt::format("no connection: {}", std::strerror(errno)), peer_);
    return socket;
  }

  TransportOptions options_;
  std::string peer_;
  std::string caller_;
  std::string name_;
};

class UnixServer final : public ServerTransport {
 public:
  UnixServer(TransportOptions options, CallHandler handler)
      : options_(std::move(options)),
        handler_(std::move(handler)),
        listener_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    // Binding without a name lets the kernel choose a free abstract one.
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    socklen_t length = sizeof(sa_family_t);
    if (::bind(listener_.fd(), reinterpret_cast<const sockaddr*>(&address), length) != 0 ||
        ::listen(listener_.fd(), SOMAXCONN) != 0)
      fail(fmt::format("cannot listen: {}", std::strerror(errno)), "workload.transport");
    length = sizeof address;
    ::getsockname(listener_.fd(), reinterpret_cast<sockaddr*>(&address), &length);
    address_ = kScheme;
    address_.append(address.sun_path + 1, length - offsetof(sockaddr_un, sun_path) - 1);
    address_ = to_text({address_, options_.token});
    acceptor_ = std::thread([this] { accept_calls(); });
  }

  UnixServer(const UnixServer&) = delete;
  UnixServer& operator=(const UnixServer&) = delete;
  ~UnixServer() override { stop(std::chrono::milliseconds(0)); }

  [[nodiscard]] const std::string& address() const override { return address_; }

  void stop(std::chrono::milliseconds grace) override {
    if (!acceptor_.joinable()) return;
    listener_.shut_down();
    acceptor_.join();
    std::unique_lock lock(mutex_);
    none_running_.wait_for(lock, grace, [this] { return running_.empty(); });
    for (Frames* frames : running_) frames->shut_down();
    none_running_.wait(lock, [this] { return running_.empty(); });
  }

 private:
  /// A limit that others may have used up.
  static bool may_pass(int number) {
    return number == EMFILE || number == ENFILE || number == ENOBUFS || number == ENOMEM;
  }

  void say_once(int number) {
    if (std::exchange(has_said_, true)) return;
    say(fmt::format("no client can be accepted at the moment: {} ({} connections came before)\n",
                    std::strerror(number), accepted_));
  }

  void accept_calls() {
    for (;;) {
      const int fd = ::accept4(listener_.fd(), nullptr, nullptr, SOCK_CLOEXEC);
      if (fd < 0 && (errno == EINTR || errno == ECONNABORTED)) continue;
      if (fd < 0 && may_pass(errno)) {
        say_once(errno);
        std::this_thread::sleep_for(kBackOff);
        continue;
      }
      if (fd < 0) return;
      Socket socket(fd);
      socket.set_deadline(std::min(options_.deadline_seconds, kGreetingSeconds));
      const auto frames = std::make_shared<Frames>(std::move(socket), options_.max_message_bytes,
                                                   fmt::format("connection {}", ++accepted_));
      const std::lock_guard lock(mutex_);
      running_.push_back(frames.get());
      std::thread([this, frames] {
        serve(*frames);
        const std::lock_guard done(mutex_);
        running_.remove(frames.get());
        // Within the lock: once it is released, the server may be gone.
        none_running_.notify_all();
      }).detach();
    }
  }

  void serve(Frames& frames) noexcept {
    try {
      const std::optional<Frame> token = frames.receive();
      if (!token) return;
      if (token->kind != 'T' || !is_same_token(token->bytes, options_.token))
        fail("the call is not of this run", frames.peer());
      frames.set_deadline(options_.deadline_seconds);
      const std::optional<Frame> first = frames.receive();
      if (!first) return;
      const auto method =
          std::find_if(std::begin(kMethods), std::end(kMethods),
                       [&](Method candidate) { return method_name(candidate) == first->bytes; });
      if (first->kind != 'M' || method == std::end(kMethods))
        fail("the call names no known method", frames.peer());
      const std::optional<Frame> caller = frames.receive();
      if (!caller || caller->kind != 'N') fail("the call names no caller", frames.peer());
      UnixServerCall call(frames, caller->bytes);
      handler_(*method, call);
      frames.send('E', {});
      drain(frames);
    } catch (const Error& error) {
      refuse(frames, error.message());
    } catch (const std::exception& error) {
      refuse(frames, error.what());
    }
  }

  /// A socket that closes with unread bytes breaks its peer's pipe: hears the client out, which
  /// hangs up once it has the answer.
  static void drain(Frames& frames) noexcept {
    try {
      while (frames.receive()) {
      }
    } catch (const std::exception&) {  // it hung up without a word
      frames.shut_down();
    }
  }

  static void refuse(Frames& frames, std::string_view why) noexcept {
    try {
      const Segment message{why, nullptr};
      frames.send('X', {&message, 1});
    } catch (const std::exception&) {
      frames.shut_down();  // nobody is left to be told
    }
  }

  TransportOptions options_;
  CallHandler handler_;
  Socket listener_;
  std::string address_;
  std::thread acceptor_;
  std::size_t accepted_ = 0;  ///< acceptor's thread only, as what follows
  bool has_said_ = false;
  std::mutex mutex_;
  std::condition_variable none_running_;
  std::list<Frames*> running_;
};

}  // namespace

std::unique_ptr<ServerTransport> open_unix_server(const TransportOptions& options,
                                                  CallHandler handler) {
  return std::make_unique<UnixServer>(options, std::move(handler));
}

std::unique_ptr<ClientTransport> open_unix_client(const TransportOptions& options,
                                                  const std::string& address,
                                                  const std::string& caller) {
  return std::make_unique<UnixClient>(options, address, caller);
}

}  // namespace memduel
