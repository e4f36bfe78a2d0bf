// A gRPC server and four clients in one process. Each call replaces a block of its thread's, until
// the process is killed:
//   killed_grpc_server LEDGER
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "ledger.h"

namespace {

constexpr unsigned kBlocks = 64;
Slot* slots = nullptr;

void replace_a_block() {
  static std::atomic<unsigned> threads{0};
  thread_local unsigned random = threads++;
  thread_local Slot& slot = slots[random % kSlots];
  thread_local Block blocks[kBlocks];
  replace_block(slot, blocks, kBlocks, random);
}

class Echo : public grpc::ServerGenericBidiReactor {
 public:
  Echo() { StartRead(&message_); }
  void OnReadDone(bool read) override {
    replace_a_block();
    if (read)
      StartWriteAndFinish(&message_, {}, grpc::Status::OK);
    else
      Finish(grpc::Status::OK);
  }
  void OnDone() override { delete this; }

 private:
  grpc::ByteBuffer message_;
};

class EchoService : public grpc::CallbackGenericService {
  grpc::ServerGenericBidiReactor* CreateReactor(
      grpc::GenericCallbackServerContext* /*context*/) override {
    return new Echo;
  }
};

void call_forever(const std::shared_ptr<grpc::Channel>& channel) {
  grpc::GenericStub stub(channel);
  const grpc::Slice bytes(std::string(10000, 'x'));
  for (;;) {
    grpc::ClientContext context;
    grpc::ByteBuffer request(&bytes, 1);
    grpc::ByteBuffer response;
    std::promise<void> answered;
    stub.UnaryCall(&context, "/ledger.Echo/Echo", {}, &request, &response,
                   [&](const grpc::Status&) { answered.set_value(); });
    answered.get_future().wait();
  }
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 2) return 2;
  slots = open_ledger(arguments[1]);
  EchoService service;
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
  builder.RegisterCallbackGenericService(&service);
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (server == nullptr) return 1;
  const std::string address = "127.0.0.1:" + std::to_string(port);
  std::vector<std::thread> clients;
  for (int i = 0; i < 4; ++i)
    clients.emplace_back(
        [&] { call_forever(grpc::CreateChannel(address, grpc::InsecureChannelCredentials())); });
  server->Wait();
}
