#include <fmt/format.h>
#include <grpc/slice.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/impl/codegen/method_handler.h>
#include <grpcpp/impl/codegen/rpc_method.h>
#include <grpcpp/impl/codegen/rpc_service_method.h>
#include <grpcpp/impl/codegen/sync_stream.h>

#include <atomic>

#include "access_token.h"
#include "fl/transport.h"
#include "util/error.h"

namespace memduel {
namespace {

using grpc::ByteBuffer;

std::string method_path(Method method) {
  return fmt::format("/GRPCCommunicator/{}", method_name(method));
}

/// A slice that borrows the segment's bytes and lets go of their owner once they are sent.
grpc::Slice borrow(const Segment& segment) {
  using Owner = std::shared_ptr<const void>;
  return {const_cast<char*>(segment.bytes.data()), segment.bytes.size(),
          [](void* owner) { delete static_cast<Owner*>(owner); }, new Owner(segment.owner)};
}

ByteBuffer to_byte_buffer(std::span<const Segment> segments) {
  std::vector<grpc::Slice> slices;
  slices.reserve(segments.size());
  for (const Segment& segment : segments) slices.push_back(borrow(segment));
  return {slices.data(), slices.size()};
}

Message to_message(ByteBuffer& buffer) {
  const auto slices = std::make_shared<std::vector<grpc::Slice>>();
  if (!buffer.Dump(slices.get()).ok())
    throw Error(ExitCode::cannot_measure, "gRPC could not hand out a received message");
  buffer.Clear();
  Message message;
  for (const grpc::Slice& slice : *slices)
    message.segments.emplace_back(reinterpret_cast<const char*>(slice.begin()), slice.size());
  message.owner = slices;
  return message;
}

constexpr const char* kCallerKey = "client-id";
constexpr const char* kTokenKey = "memduel-token";

bool shows_token(const grpc::ServerContext& context, const std::string& token) {
  const auto found = context.client_metadata().find(kTokenKey);
  return found != context.client_metadata().end() &&
         is_same_token({found->second.data(), found->second.size()}, token);
}

/// The caller's own name, else its address.
std::string caller_of(const grpc::ServerContext& context) {
  const auto found = context.client_metadata().find(kCallerKey);
  return found == context.client_metadata().end()
             ? context.peer()
             : std::string(found->second.data(), found->second.size());
}

class GrpcServerCall final : public Call {
 public:
  GrpcServerCall(grpc::ServerContext& context,
                 grpc::ServerReaderWriter<ByteBuffer, ByteBuffer>& stream)
      : context_(context), stream_(stream), peer_(caller_of(context)) {}

  std::optional<Message> read() override {
    ByteBuffer buffer;
    if (stream_.Read(&buffer)) return to_message(buffer);
    // gRPC may end the stream a moment before it says that the call was cancelled.
    if (cancelled_ || context_.IsCancelled()) throw PeerGone(kCallBrokenOff, peer_);
    return std::nullopt;
  }

  void write(std::span<const Segment> segments) override {
    if (!stream_.Write(to_byte_buffer(segments)))
      throw PeerGone("the client is gone: its answer was not taken", peer_);
  }

  void cancel() noexcept override {
    cancelled_ = true;
    context_.TryCancel();
  }
  [[nodiscard]] const std::string& peer() const override { return peer_; }

 private:
  grpc::ServerContext& context_;
  grpc::ServerReaderWriter<ByteBuffer, ByteBuffer>& stream_;
  std::string peer_;
  std::atomic<bool> cancelled_ = false;
};

grpc::Status run(const CallHandler& handler, Method method, Call& call) {
  try {
    handler(method, call);
    return grpc::Status::OK;
  } catch (const Error& error) {
    return {grpc::StatusCode::ABORTED, error.message()};
  } catch (const std::exception& error) {
    return {grpc::StatusCode::INTERNAL, error.what()};
  }
}

/// The service as generated code would declare it, with raw bytes as messages.
class ByteService final : public grpc::Service {
 public:
  ByteService(CallHandler handler, std::string token)
      : handler_(std::move(handler)), token_(std::move(token)) {
    for (const Method method : kMethods) {
      paths_.push_back(method_path(method));
      AddMethod(new grpc::internal::RpcServiceMethod(
          paths_.back().c_str(), grpc::internal::RpcMethod::BIDI_STREAMING,
          new grpc::internal::BidiStreamingHandler<ByteService, ByteBuffer, ByteBuffer>(
              [method](ByteService* service, grpc::ServerContext* context,
                       grpc::ServerReaderWriter<ByteBuffer, ByteBuffer>* stream) {
                if (!shows_token(*context, service->token_))
                  return grpc::Status(grpc::StatusCode::UNAUTHENTICATED, "not of this run");
                GrpcServerCall call(*context, *stream);
                return run(service->handler_, method, call);
              },
              this)));
    }
  }

 private:
  CallHandler handler_;
  std::string token_;
  std::vector<std::string> paths_;
};

class GrpcServer final : public ServerTransport {
 public:
  GrpcServer(const TransportOptions& options, CallHandler handler)
      : service_(std::move(handler), options.token) {
    grpc::ServerBuilder builder;
    int bound_port = 0;
    builder.AddListeningPort(fmt::format("127.0.0.1:{}", options.port),
                             grpc::InsecureServerCredentials(), &bound_port);
    builder.RegisterService(&service_);
    builder.SetMaxReceiveMessageSize(static_cast<int>(options.max_message_bytes));
    builder.SetMaxSendMessageSize(static_cast<int>(options.max_message_bytes));
    builder.SetSyncServerOption(grpc::ServerBuilder::NUM_CQS, 1);
    // Two servers on one port would share its clients without a word.
    builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
    if (options.bounded_window) builder.AddChannelArgument(GRPC_ARG_HTTP2_BDP_PROBE, 0);
    server_ = builder.BuildAndStart();
    if (!server_ || bound_port == 0)
      throw Error(ExitCode::cannot_measure,
                  fmt::format("cannot listen on 127.0.0.1:{}", options.port),
                  "workload.transport.port", "another program uses the port; 0 selects a free one");
    address_ = to_text({fmt::format("127.0.0.1:{}", bound_port), options.token});
  }

  GrpcServer(const GrpcServer&) = delete;
  GrpcServer& operator=(const GrpcServer&) = delete;
  ~GrpcServer() override { server_->Shutdown(std::chrono::system_clock::now()); }

  [[nodiscard]] const std::string& address() const override { return address_; }

  void stop(std::chrono::milliseconds grace) override {
    server_->Shutdown(std::chrono::system_clock::now() + grace);
    server_->Wait();
  }

 private:
  ByteService service_;
  std::unique_ptr<grpc::Server> server_;
  std::string address_;
};

class GrpcClientCall final : public ClientCall {
 public:
  GrpcClientCall(const std::shared_ptr<grpc::Channel>& channel, Method method,
                 std::chrono::duration<double> deadline, const std::string& peer,
                 const std::string& caller, const std::string& token)
      : path_(method_path(method)), peer_(peer) {
    context_.AddMetadata(kCallerKey, caller);
    context_.AddMetadata(kTokenKey, token);
    context_.set_deadline(
        std::chrono::system_clock::now() +
        std::chrono::duration_cast<std::chrono::system_clock::duration>(deadline));
    stream_.reset(grpc::internal::ClientReaderWriterFactory<ByteBuffer, ByteBuffer>::Create(
        channel.get(),
        grpc::internal::RpcMethod(path_.c_str(), grpc::internal::RpcMethod::BIDI_STREAMING),
        &context_));
  }

  GrpcClientCall(const GrpcClientCall&) = delete;
  GrpcClientCall& operator=(const GrpcClientCall&) = delete;
  ~GrpcClientCall() override {
    if (finished_) return;
    context_.TryCancel();
    stream_->Finish();
  }

  std::optional<Message> read() override {
    ByteBuffer buffer;
    if (stream_->Read(&buffer)) return to_message(buffer);
    return std::nullopt;
  }

  void write(std::span<const Segment> segments) override {
    if (!stream_->Write(to_byte_buffer(segments))) finish();
  }

  void finish_writing() override { stream_->WritesDone(); }

  void finish() override {
    finished_ = true;
    const grpc::Status status = stream_->Finish();
    if (status.ok()) return;
    const bool late = status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED;
    throw Error(ExitCode::cannot_measure,
                late ? fmt::format("{} was not answered within the deadline", path_)
                     : fmt::format("{} failed: {}", path_, status.error_message()),
                peer_);
  }

  void cancel() noexcept override { context_.TryCancel(); }
  [[nodiscard]] const std::string& peer() const override { return peer_; }

 private:
  std::string path_;
  std::string peer_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReaderWriter<ByteBuffer, ByteBuffer>> stream_;
  bool finished_ = false;
};

class GrpcClient final : public ClientTransport {
 public:
  GrpcClient(const TransportOptions& options, const std::string& address, const std::string& caller)
      : peer_(fmt::format("server {}", address)),
        caller_(caller),
        token_(options.token),
        deadline_(options.deadline_seconds) {
    grpc::ChannelArguments arguments;
    arguments.SetMaxReceiveMessageSize(static_cast<int>(options.max_message_bytes));
    arguments.SetMaxSendMessageSize(static_cast<int>(options.max_message_bytes));
    // Clients in one process (tests) must not share a connection.
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    if (options.bounded_window) arguments.SetInt(GRPC_ARG_HTTP2_BDP_PROBE, 0);
    channel_ = grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
  }

  void connect(std::chrono::milliseconds within) override {
    if (!channel_->WaitForConnected(std::chrono::system_clock::now() + within))
      throw Error(ExitCode::cannot_measure,
                  fmt::format("no connection within {} ms", within.count()), peer_,
                  "is the server still running?");
  }

  std::unique_ptr<ClientCall> start(Method method) override {
    return std::make_unique<GrpcClientCall>(channel_, method, deadline_, peer_, caller_, token_);
  }

 private:
  std::string peer_;
  std::string caller_;
  std::string token_;
  std::chrono::duration<double> deadline_;
  std::shared_ptr<grpc::Channel> channel_;
};

}  // namespace

std::unique_ptr<ServerTransport> open_grpc_server(const TransportOptions& options,
                                                  CallHandler handler) {
  return std::make_unique<GrpcServer>(options, std::move(handler));
}

std::unique_ptr<ClientTransport> open_grpc_client(const TransportOptions& options,
                                                  const std::string& address,
                                                  const std::string& caller) {
  return std::make_unique<GrpcClient>(options, address, caller);
}

std::string grpc_version() {
  return grpc::Version();
}

}  // namespace memduel
