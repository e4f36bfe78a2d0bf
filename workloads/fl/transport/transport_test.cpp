#include "fl/transport.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <future>
#include <random>
#include <string>
#include <thread>

#include "util/error.h"

namespace memduel {
namespace {

TEST(Bytes, HoldsWhatWasAppended) {
  Bytes bytes;
  std::string expected;
  for (int i = 0; i < 1000; ++i) {
    const std::string part(static_cast<std::size_t>(i % 17), static_cast<char>('a' + i % 26));
    bytes.append(part);
    expected += part;
  }
  EXPECT_EQ(bytes.view(), expected);
}

TEST(Bytes, MovedFromIsEmpty) {
  Bytes bytes = Bytes::copy_of("abc");
  const Bytes moved = std::move(bytes);
  EXPECT_EQ(moved.view(), "abc");
  EXPECT_EQ(bytes.size(), 0U);  // NOLINT(bugprone-use-after-move)
}

// The same calls over every transport of this build.

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;

Segment text(std::string_view bytes) {
  return {bytes, nullptr};
}

std::string join(const Message& message) {
  std::string all;
  for (const std::string_view segment : message.segments) all.append(segment);
  return all;
}

void write_text(Call& call, std::string_view bytes) {
  const Segment segment = text(bytes);
  call.write({&segment, 1});
}

class Transports : public ::testing::TestWithParam<std::string> {
 protected:
  [[nodiscard]] TransportOptions options() const {
    TransportOptions options;
    options.kind = GetParam();
    options.deadline_seconds = 60;
    return options;
  }

  void serve(CallHandler handler) { server_ = open_server(options(), std::move(handler)); }

  std::unique_ptr<ClientTransport> client() {
    auto client = open_client(options(), server_->address(), "client-3");
    client->connect(seconds(30));
    return client;
  }

  std::unique_ptr<ServerTransport> server_;
};

TEST_P(Transports, EchoesMessagesInOrderUntilTheClientEnds) {
  serve([](Method method, Call& call) {
    write_text(call, method_name(method));
    while (const auto message = call.read()) write_text(call, join(*message) + "!");
  });
  const auto transport = client();
  const auto call = transport->start(Method::update_global_model);
  const Segment two[] = {text("on"), text("e")};
  call->write(two);
  write_text(*call, "two");
  call->finish_writing();
  std::vector<std::string> answers;
  while (const auto message = call->read()) answers.push_back(join(*message));
  call->finish();
  EXPECT_THAT(answers, ::testing::ElementsAre("UpdateGlobalModel", "one!", "two!"));
}

TEST_P(Transports, HandlerKnowsItsCaller) {
  serve([](Method, Call& call) { write_text(call, call.peer()); });
  const auto transport = client();
  const auto call = transport->start(Method::get_configuration);
  call->finish_writing();
  EXPECT_EQ(join(*call->read()), "client-3");
  call->finish();
}

TEST_P(Transports, WhatTheHandlerThrowsReachesTheClient) {
  serve([](Method, Call& call) {
    static_cast<void>(call.read());
    throw Error(ExitCode::cannot_measure, "tensor fc1.weight is missing", "client-3");
  });
  const auto transport = client();
  const auto call = transport->start(Method::update_global_model);
  call->finish_writing();
  EXPECT_FALSE(call->read());
  try {
    call->finish();
    FAIL() << "the handler's error was lost";
  } catch (const Error& error) {
    EXPECT_THAT(error.message(), HasSubstr("tensor fc1.weight is missing"));
  }
}

// The server does not hear out whom it refuses, so that the writing breaks.
TEST_P(Transports, WhoStillWritesWhenTheServerRefusesIsToldWhy) {
  serve([](Method, Call& call) {
    static_cast<void>(call.read());
    throw Error(ExitCode::cannot_measure, "tensor fc1.weight is missing", "client-3");
  });
  const auto transport = client();
  const auto call = transport->start(Method::update_global_model);
  const std::string part(65536, 'm');
  try {
    for (int parts = 0; parts < 1000; ++parts) write_text(*call, part);
    FAIL() << "64 MB were sent to a server that refused";
  } catch (const Error& error) {
    EXPECT_THAT(error.message(), HasSubstr("tensor fc1.weight is missing"));
  }
}

TEST_P(Transports, ClientThatBreaksOffIsAnErrorNotAnEnd) {
  std::promise<std::string> seen;
  serve([&](Method, Call& call) {
    try {
      while (call.read()) {
      }
      seen.set_value("a proper end");
    } catch (const Error& error) {
      seen.set_value(error.message());
    }
  });
  const auto transport = client();
  auto call = transport->start(Method::update_global_model);
  write_text(*call, "half a model");
  call.reset();
  auto result = seen.get_future();
  ASSERT_EQ(result.wait_for(seconds(30)), std::future_status::ready);
  EXPECT_THAT(result.get(), ::testing::AllOf(HasSubstr("client-3"), HasSubstr("broke off")));
}

TEST_P(Transports, ServerThatStopsReleasesItsClients) {
  std::promise<void> arrived;
  serve([&](Method, Call& call) {
    arrived.set_value();
    while (call.read()) {
    }
  });
  const auto transport = client();
  const auto call = transport->start(Method::update_global_model);
  write_text(*call, "hello");
  arrived.get_future().wait();
  server_->stop(milliseconds(10));
  const auto read_to_the_end = [&] {
    while (call->read()) {
    }
    call->finish();
  };
  EXPECT_THROW(read_to_the_end(), Error);
}

TEST_P(Transports, OwnerOfSentBytesIsLetGoOf) {
  serve([](Method, Call& call) {
    while (call.read()) {
    }
  });
  const auto transport = client();
  const auto call = transport->start(Method::update_global_model);
  const auto owner = std::make_shared<const std::string>(100000, 'x');
  const Segment segment{*owner, owner};
  call->write({&segment, 1});
  call->finish_writing();
  call->finish();
  EXPECT_EQ(segment.owner.use_count(), 2) << "the transport still holds the bytes";
}

TEST_P(Transports, NobodyListeningIsAnErrorWithinTheTime) {
  const std::string address = GetParam() == "grpc" ? "127.0.0.1:1" : "unix-abstract:nobody-here";
  const auto nobody = open_client(options(), address + "#token", "client-1");
  EXPECT_THROW(nobody->connect(milliseconds(200)), Error);
}

TEST_P(Transports, WhoDoesNotKnowTheTokenIsRefusedAndHarmsNobody) {
  int handled = 0;
  serve([&](Method, Call& call) {
    ++handled;
    while (call.read()) {
    }
  });
  const std::string address = server_->address();
  const std::string place = address.substr(0, address.rfind('#'));
  EXPECT_EQ(address.size() - place.size(), 33U) << "32 digits";
  for (const std::string& token :
       {std::string(32, '0'), std::string(), address.substr(place.size() + 1) + "0"}) {
    const auto stranger = open_client(options(), place + "#" + token, "client-1");
    stranger->connect(seconds(30));
    EXPECT_THROW(
        {
          const auto call = stranger->start(Method::update_global_model);
          call->finish_writing();
          call->finish();
        },
        Error);
  }
  EXPECT_EQ(handled, 0);
  const auto transport = client();
  const auto call = transport->start(Method::update_global_model);
  call->finish_writing();
  call->finish();
  EXPECT_EQ(handled, 1);
}

/// A connection to the server that knows nothing of its protocol.
int raw_connection(const std::string& address) {
  const std::string place = address.substr(0, address.rfind('#'));
  const bool local = place.starts_with("unix");
  const std::string name = place.substr(place.rfind(':') + 1);
  const int socket = ::socket(local ? AF_UNIX : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un abstract{};
  abstract.sun_family = AF_UNIX;
  name.copy(abstract.sun_path + 1, sizeof abstract.sun_path - 1);
  sockaddr_in loopback{};
  loopback.sin_family = AF_INET;
  loopback.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (!local) loopback.sin_port = htons(static_cast<std::uint16_t>(std::stoi(name)));
  const auto* to = local ? reinterpret_cast<const sockaddr*>(&abstract)
                         : reinterpret_cast<const sockaddr*>(&loopback);
  const auto size = static_cast<socklen_t>(local ? offsetof(sockaddr_un, sun_path) + 1 + name.size()
                                                 : sizeof loopback);
  return ::connect(socket, to, size) == 0 ? socket : -1;
}

TEST_P(Transports, GarbageAndIdleConnectionsHarmNobody) {
  serve([](Method, Call& call) {
    while (const auto message = call.read()) write_text(call, join(*message));
  });
  std::vector<int> sockets;
  std::mt19937 random(1);
  for (int i = 0; i < 60; ++i) {
    sockets.push_back(raw_connection(server_->address()));
    ASSERT_GE(sockets.back(), 0);
    // Every third stays idle, every third claims a frame of 16 MiB and more.
    std::string bytes(static_cast<std::size_t>(i % 3 * 500), '\0');
    for (char& byte : bytes) byte = static_cast<char>(i % 3 == 1 ? 0xff : random());
    EXPECT_EQ(::send(sockets.back(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
  }
  const auto transport = client();
  const auto call = transport->start(Method::update_global_model);
  write_text(*call, "still here");
  call->finish_writing();
  const auto answer = call->read();
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(join(*answer), "still here");
  call->finish();
  for (const int socket : sockets) ::close(socket);
}

TEST(UnixTransport, AcceptsAgainOnceThereAreDescriptors) {
  TransportOptions options;
  options.kind = "unix";
  options.deadline_seconds = 60;
  const auto server = open_server(options, [](Method, Call& call) {
    while (call.read()) {
    }
  });
  const auto client = open_client(options, server->address(), "client-1");
  rlimit before{};
  getrlimit(RLIMIT_NOFILE, &before);
  rlimit few = before;
  few.rlim_cur = 3;  // nothing new can be opened
  ::testing::internal::CaptureStderr();
  // The client's end needs a descriptor of this process, too: it is taken before the limit.
  const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
  setrlimit(RLIMIT_NOFILE, &few);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string full = server->address();
  const std::string name = full.substr(full.find(':') + 1, full.rfind('#') - full.find(':') - 1);
  name.copy(address.sun_path + 1, name.size());
  ASSERT_EQ(::connect(socket, reinterpret_cast<sockaddr*>(&address),
                      static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size())),
            0);
  std::this_thread::sleep_for(milliseconds(300));
  setrlimit(RLIMIT_NOFILE, &before);
  const auto after = client->start(Method::get_configuration);
  after->finish_writing();
  after->finish();
  ::close(socket);
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("Too many open files"));
}

std::vector<std::string> kinds() {
#ifdef MEMDUEL_HAVE_GRPC
  return {"grpc", "unix"};
#else
  return {"unix"};
#endif
}

INSTANTIATE_TEST_SUITE_P(All, Transports, ::testing::ValuesIn(kinds()),
                         [](const auto& one) { return one.param; });

#ifdef MEMDUEL_HAVE_GRPC
TEST(GrpcTransport, TakenPortIsAClearError) {
  TransportOptions options;
  const auto first = open_server(options, [](Method, Call&) {});
  options.port = std::stoi(first->address().substr(first->address().find(':') + 1));
  try {
    open_server(options, [](Method, Call&) {});
    FAIL() << "a port was taken twice";
  } catch (const Error& error) {
    EXPECT_THAT(error.message(), HasSubstr("cannot listen on 127.0.0.1:"));
  }
}
#endif

TEST(OpenServer, UnknownKindIsRefused) {
  TransportOptions options;
  options.kind = "pigeon";
  EXPECT_THROW(open_server(options, [](Method, Call&) {}), Error);
}

}  // namespace
}  // namespace memduel
