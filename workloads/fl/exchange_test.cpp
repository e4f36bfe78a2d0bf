#include "exchange.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "transport/test_loop_call.h"

namespace memduel {
namespace {

using ::testing::HasSubstr;

Answer answer_with(Status status) {
  return {nullptr, {"", status, ""}};
}

std::future<Status> hand_in(Exchange& exchange, int client) {
  return std::async(std::launch::async, [&exchange, client] {
    LoopCall call;
    exchange.await_open(client);
    const Answer answer = exchange.hand_in({client, {}, std::nullopt, nullptr}, call);
    exchange.delivered(client);
    return answer.header.status;
  });
}

std::string message_of(std::future<Status>& result) {
  try {
    result.get();
  } catch (const Error& error) {
    return error.message();
  }
  return "no error";
}

TEST(Exchange, UploadsComeInClientOrderAndAllGetTheAnswer) {
  Exchange exchange(3, OnLostClient::fail, deadline_in(30));
  for (int round = 1; round <= 20; ++round) {
    auto third = hand_in(exchange, 3);
    auto first = hand_in(exchange, 1);
    auto second = hand_in(exchange, 2);
    exchange.open("round");
    const std::vector<Upload> uploads = exchange.await_uploads();
    ASSERT_EQ(uploads.size(), 3U);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(uploads[static_cast<std::size_t>(i)].client, i + 1);
    exchange.answer(answer_with(Status::done));
    exchange.await_delivery();
    EXPECT_EQ(first.get(), Status::done);
    EXPECT_EQ(second.get(), Status::done);
    EXPECT_EQ(third.get(), Status::done);
  }
}

TEST(Exchange, LostClientReleasesEveryWaitAndIsNamed) {
  Exchange exchange(2, OnLostClient::fail, deadline_in(30));
  exchange.open("round 3");
  auto first = hand_in(exchange, 1);
  auto main = std::async(std::launch::async, [&] {
    exchange.await_uploads();
    return Status::run;
  });
  exchange.lose(2, "its process ended");
  EXPECT_THAT(message_of(first), HasSubstr("round 3: client-2 was lost: its process ended"));
  EXPECT_THAT(message_of(main), HasSubstr("client-2"));
}

TEST(Exchange, DeadlineNamesTheMissingClients) {
  Exchange exchange(2, OnLostClient::fail, deadline_in(0.2));
  exchange.open("round 1");
  auto main = std::async(std::launch::async, [&] {
    exchange.await_uploads();
    return Status::run;
  });
  EXPECT_THAT(message_of(main), ::testing::AllOf(HasSubstr("round 1"), HasSubstr("deadline"),
                                                 HasSubstr("client-1, client-2")));
}

TEST(Exchange, SecondUploadOfAClientInOneRoundIsRefused) {
  Exchange exchange(2, OnLostClient::fail, deadline_in(30));
  exchange.open("round 1");
  auto first = hand_in(exchange, 1);
  LoopCall second;
  std::string refusal;
  while (refusal.empty()) {
    try {
      // Until the first upload is in, this one would be it.
      if (first.wait_for(std::chrono::milliseconds(50)) == std::future_status::timeout)
        exchange.hand_in({1, {}, std::nullopt, nullptr}, second);
    } catch (const Error& error) {
      refusal = error.message();
    }
  }
  EXPECT_THAT(refusal, HasSubstr("client-1 uploaded twice"));
  exchange.fail(Error(ExitCode::cannot_measure, "end of the test"));
  EXPECT_THAT(message_of(first), HasSubstr("end of the test"));
}

TEST(Exchange, GoesOnWithoutALostClientWhereThatIsThePolicy) {
  Exchange exchange(3, OnLostClient::go_on, deadline_in(30));
  auto first = hand_in(exchange, 1);
  auto second = hand_in(exchange, 2);
  exchange.open("round 1");
  exchange.lose(3, "its process ended");
  const std::vector<Upload> uploads = exchange.await_uploads();
  ASSERT_EQ(uploads.size(), 2U);
  exchange.answer(answer_with(Status::done));
  exchange.await_delivery();
  EXPECT_EQ(first.get(), Status::done);
  EXPECT_EQ(second.get(), Status::done);
  exchange.leave(1);
  exchange.leave(2);
  exchange.await_all_left();
}

TEST(Exchange, UploadOfAClientLostWhileItWaitsIsLeftOut) {
  Exchange exchange(2, OnLostClient::go_on, deadline_in(30));
  exchange.open("round 1");
  auto first = hand_in(exchange, 1);
  while (first.wait_for(std::chrono::milliseconds(50)) != std::future_status::timeout) {
  }
  exchange.lose(1, "its process ended");
  EXPECT_THAT(message_of(first), HasSubstr("continues without this client"));
  auto second = hand_in(exchange, 2);
  const std::vector<Upload> uploads = exchange.await_uploads();
  ASSERT_EQ(uploads.size(), 1U);
  EXPECT_EQ(uploads[0].client, 2);
  exchange.answer(answer_with(Status::done));
  EXPECT_EQ(second.get(), Status::done);
}

/// Says when it is cancelled.
class CancellableCall final : public Call {
 public:
  std::optional<Message> read() override { return std::nullopt; }
  void write(std::span<const Segment> /*segments*/) override {}
  void cancel() noexcept override { cancelled_.set_value(); }
  [[nodiscard]] const std::string& peer() const override { return peer_; }

  [[nodiscard]] bool is_cancelled_within(std::chrono::seconds time) const {
    return seen_.wait_for(time) == std::future_status::ready;
  }

 private:
  std::promise<void> cancelled_;
  std::future<void> seen_ = cancelled_.get_future();
  std::string peer_ = "client";
};

std::future<Status> hand_in_stream(Exchange& exchange, int client, Call& call) {
  return std::async(std::launch::async, [&exchange, client, &call] {
    exchange.await_open(client);
    auto stream = std::make_unique<ModelStream>(PieceReader(call), Header(), "");
    const Answer answer = exchange.hand_in({client, {}, std::nullopt, std::move(stream)}, call);
    exchange.delivered(client);
    return answer.header.status;
  });
}

bool is_waiting(const std::future<Status>& handler) {
  return handler.wait_for(std::chrono::milliseconds(200)) == std::future_status::timeout;
}

TEST(Exchange, HandlerOfALostClientStaysWhileItsStreamIsRead) {
  Exchange exchange(2, OnLostClient::go_on, deadline_in(60));
  CancellableCall first_call;
  CancellableCall second_call;
  auto first = hand_in_stream(exchange, 1, first_call);
  auto second = hand_in_stream(exchange, 2, second_call);
  exchange.open("round 1");
  std::vector<Upload> uploads = exchange.await_uploads();
  exchange.lose(1, "its process ended");
  EXPECT_TRUE(first_call.is_cancelled_within(std::chrono::seconds(30))) << "a read of it must end";
  EXPECT_TRUE(is_waiting(first)) << "its call is gone and may be read";
  uploads.clear();
  exchange.answer(answer_with(Status::again));
  EXPECT_THAT(message_of(first), HasSubstr("continues without this client"));
  EXPECT_EQ(second.get(), Status::again);
  EXPECT_FALSE(second_call.is_cancelled_within(std::chrono::seconds(0)));
}

TEST(Exchange, AFailureEndsTheReadOfEveryStreamBeforeItsHandlerLeaves) {
  Exchange exchange(2, OnLostClient::fail, deadline_in(60));
  CancellableCall first_call;
  CancellableCall second_call;
  auto first = hand_in_stream(exchange, 1, first_call);
  auto second = hand_in_stream(exchange, 2, second_call);
  exchange.open("round 1");
  std::vector<Upload> uploads = exchange.await_uploads();
  exchange.lose(1, "its process ended");
  EXPECT_TRUE(first_call.is_cancelled_within(std::chrono::seconds(30)));
  EXPECT_TRUE(second_call.is_cancelled_within(std::chrono::seconds(30)))
      << "the main thread may wait for it rather than for the lost one";
  EXPECT_TRUE(is_waiting(first));
  EXPECT_TRUE(is_waiting(second));
  uploads.clear();
  const Error what = exchange.fail(Error(ExitCode::cannot_measure, "the main thread's own words"));
  EXPECT_THAT(what.message(), HasSubstr("client-1 was lost"));
  EXPECT_THAT(message_of(first), HasSubstr("client-1 was lost"));
  EXPECT_THAT(message_of(second), HasSubstr("client-1 was lost"));
}

TEST(Exchange, FailsWhenNobodyIsLeft) {
  Exchange exchange(1, OnLostClient::go_on, deadline_in(30));
  exchange.open("round 1");
  exchange.lose(1, "its process ended");
  EXPECT_THROW(exchange.await_uploads(), Error);
}

TEST(Exchange, ClientThatLeftIsNotLost) {
  Exchange exchange(1, OnLostClient::fail, deadline_in(30));
  exchange.leave(1);
  exchange.lose(1, "its call ended");
  EXPECT_NO_THROW(exchange.await_all_left());
}

}  // namespace
}  // namespace memduel
