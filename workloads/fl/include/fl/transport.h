// How server and clients talk, without LibTorch: one remote call, whatever carries it (gRPC or Unix
// sockets), its options, and the bytes and format of a model's state on the way.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "util/error.h"

namespace memduel {

inline constexpr const char* kCallBrokenOff = "the client broke off its call";

/// The four calls of APPFL's service.
enum class Method {
  get_configuration,
  get_global_model,
  update_global_model,
  invoke_custom_action
};
inline constexpr Method kMethods[] = {Method::get_configuration, Method::get_global_model,
                                      Method::update_global_model, Method::invoke_custom_action};
std::string_view method_name(Method method);  ///< "UpdateGlobalModel"

/// The peer ended or broke off before it had said all, or took too long.
class PeerGone : public Error {
 public:
  PeerGone(const std::string& what, const std::string& peer)
      : Error(ExitCode::cannot_measure, what, peer) {}
};

/// A received message. The segments, in order, are its bytes; `owner` keeps them alive.
struct Message {
  std::vector<std::string_view> segments;
  std::shared_ptr<const void> owner;

  [[nodiscard]] std::size_t size() const;
};

/// Part of a message to send; `owner` keeps `bytes` alive and unchanged until they are sent.
struct Segment {
  std::string_view bytes;
  std::shared_ptr<const void> owner;
};

class Call {
 public:
  Call() = default;
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  virtual ~Call() = default;

  /// The next message; absent when the peer has ended its side. Throws PeerGone when the peer broke
  /// off and the transport can tell.
  virtual std::optional<Message> read() = 0;

  /// Sends one message. Returns before the bytes are on the wire. Throws PeerGone.
  virtual void write(std::span<const Segment> segments) = 0;

  /// Ends the call from any thread: reads and writes in progress return or throw.
  virtual void cancel() noexcept = 0;

  /// The other side, for messages.
  [[nodiscard]] virtual const std::string& peer() const = 0;
};

class ClientCall : public Call {
 public:
  /// Says that no more messages follow from this side.
  virtual void finish_writing() = 0;

  /// Waits for the server's verdict. Throws Error(cannot_measure) with the server's words.
  virtual void finish() = 0;
};

class ClientTransport {
 public:
  ClientTransport() = default;
  ClientTransport(const ClientTransport&) = delete;
  ClientTransport& operator=(const ClientTransport&) = delete;
  virtual ~ClientTransport() = default;

  /// Throws Error(cannot_measure) when the server does not answer within `within`.
  virtual void connect(std::chrono::milliseconds within) = 0;
  virtual std::unique_ptr<ClientCall> start(Method method) = 0;
};

/// Runs in a thread of its own per call. What it throws becomes the call's verdict.
using CallHandler = std::function<void(Method, Call&)>;

class ServerTransport {
 public:
  ServerTransport() = default;
  ServerTransport(const ServerTransport&) = delete;
  ServerTransport& operator=(const ServerTransport&) = delete;
  virtual ~ServerTransport() = default;

  /// What clients connect to, and the token that they show: for their eyes only.
  [[nodiscard]] virtual const std::string& address() const = 0;

  /// Ends: calls still running after `grace` are cancelled; returns when none runs.
  virtual void stop(std::chrono::milliseconds grace) = 0;
};

// How a transport is opened.

struct TransportOptions {
  std::string kind = "grpc";  ///< grpc or unix
  int port = 0;               ///< 0: any free port; grpc only
  std::size_t max_message_bytes = 10485760;
  /// Switch flow_control=bounded: gRPC does not grow its HTTP/2 window beyond 64 KiB.
  bool bounded_window = false;
  double deadline_seconds = 600;  ///< of one call
  std::string token = {};         ///< of the server; a new one where it is empty
};

/// Listens on the loopback and serves with `handler` until stopped. Throws Error(cannot_measure)
/// when the port is taken, Error(usage) for an unknown kind.
std::unique_ptr<ServerTransport> open_server(const TransportOptions& options, CallHandler handler);

/// Makes a client for the server whose address() this is; does not connect yet. `caller` is what
/// the server's calls answer to peer(): "client-2".
std::unique_ptr<ClientTransport> open_client(const TransportOptions& options,
                                             const std::string& address, const std::string& caller);

// Calls over gRPC on the loopback, as streams of DataBuffers.

std::unique_ptr<ServerTransport> open_grpc_server(const TransportOptions& options,
                                                  CallHandler handler);
std::unique_ptr<ClientTransport> open_grpc_client(const TransportOptions& options,
                                                  const std::string& address,
                                                  const std::string& caller);
std::string grpc_version();

/// Whether this worker was built with the compressors of switch compression.
bool has_compressors();

// Calls over Unix sockets, for builds without gRPC: one connection per call, on an abstract name
// that the kernel chooses.
//
// Frame: one byte kind, u32 little-endian length, bytes. From the client first 'M' with the
// method's name, 'N' with the caller's, then 'D' messages, 'E' at the end of its side; from the
// server 'D' messages, then 'E' (success) or 'X' with what went wrong.

std::unique_ptr<ServerTransport> open_unix_server(const TransportOptions& options,
                                                  CallHandler handler);
std::unique_ptr<ClientTransport> open_unix_client(const TransportOptions& options,
                                                  const std::string& address,
                                                  const std::string& caller);

// A message of a replay travels in pieces of switch piece_bytes.

/// What a piece adds to its bytes: a DataBuffer's tag and length.
inline constexpr std::int64_t kPieceOverheadBytes = 16;

// A growing buffer without initialisation, as Python's BytesIO: it grows by an eighth, through
// realloc.

class Bytes {
 public:
  Bytes() = default;
  Bytes(Bytes&& other) noexcept;
  Bytes& operator=(Bytes&& other) noexcept;
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;
  ~Bytes() = default;

  static Bytes copy_of(std::string_view bytes);

  void append(std::string_view bytes);
  /// Adds `size` uninitialised bytes and returns where they begin.
  char* extend(std::size_t size);
  /// Makes room for exactly `capacity` bytes.
  void reserve(std::size_t capacity);

  [[nodiscard]] std::string_view view() const { return {data_.get(), size_}; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] char* data() { return data_.get(); }

 private:
  struct Free {
    void operator()(char* data) const;
  };

  std::unique_ptr<char, Free> data_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

using SharedBytes = std::shared_ptr<Bytes>;

SharedBytes share(Bytes bytes);

// A model state as bytes: a table of tensors, then their data.
//
//   offset  bytes  what (little-endian)
//   0       4      "MDST"
//   4       4      version, 1
//   8       8      bytes of the table: from offset 0 to the first data, a multiple of 64
//   16      8      bytes of the whole state
//   24      4      number of tensors
//   28      …      per tensor: u16 name length, name, u8 dtype, u8 dimensions, u64 each dimension
//   …       …      zeros up to the table's size, then each tensor's data at the next multiple of
//                  64, zeros between
//
// Offsets are not stored: they follow from the shapes, so that they cannot contradict them. Data
// aligned to 64 bytes lets a receiver use it in place. The price: up to 63 bytes per tensor.

/// Element types that FL states hold; the numbers stand on the wire.
enum class Dtype : std::uint8_t { float32 = 0, float64 = 1, int32 = 2, int64 = 3 };

std::size_t element_size(Dtype dtype);
std::string_view dtype_name(Dtype dtype);

/// One tensor of a state, without its data.
struct TensorRecord {
  std::string name;
  Dtype dtype = Dtype::float32;
  std::vector<std::int64_t> shape;
  std::size_t bytes = 0;   ///< elements × element size; set by layout_table and the decoder
  std::size_t offset = 0;  ///< from the start of the encoded state; likewise

  [[nodiscard]] std::string shape_text() const;  ///< "[64, 3, 3, 3]"
};

struct StateTable {
  std::vector<TensorRecord> tensors;
  std::size_t table_bytes = 0;
  std::size_t total_bytes = 0;
};

inline constexpr std::size_t kTableAlignment = 64;
inline constexpr std::size_t kTablePrefixBytes = 28;
/// A table larger than this is refused: 4,000 tensors with long names need 0.5 MB.
inline constexpr std::size_t kMostTableBytes = std::size_t{64} << 20;

/// Fills in bytes, offsets and totals for tensors with name, dtype and shape.
StateTable layout_table(std::vector<TensorRecord> tensors);

/// The table's bytes, exactly `table_bytes` long.
std::string encode_table(const StateTable& table);

/// The table's size in bytes, from the first kTablePrefixBytes. `from` names the sender in
/// messages. Throws Error(cannot_measure) naming offset, found and expected.
std::size_t table_size(std::string_view prefix, const std::string& from);

/// Reads a table; `bytes` holds at least the whole table. Checks magic, version, sizes, names
/// (not empty, no two alike) and that the claimed total is what the shapes give.
StateTable decode_table(std::string_view bytes, const std::string& from);

/// Throws Error(cannot_measure) naming the first tensor that is missing, extra, or differs in dtype
/// or shape from `expected`.
void expect_same_tensors(const StateTable& found, const StateTable& expected,
                         const std::string& from);

}  // namespace memduel
