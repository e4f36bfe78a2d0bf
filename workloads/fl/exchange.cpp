#include "exchange.h"

#include <fmt/format.h>

#include <algorithm>

namespace memduel {
namespace {

/// What an average gets to end by itself once the exchange has failed.
constexpr std::chrono::seconds kAverageGrace{2};

}  // namespace

template <class Condition>
void Exchange::wait(std::unique_lock<std::mutex>& lock, const std::string& for_what,
                    Condition condition) {
  const bool in_time =
      changed_.wait_until(lock, deadline_, [&] { return failure_.has_value() || condition(); });
  if (!in_time)
    fail_locked(Error(ExitCode::cannot_measure,
                      fmt::format("{}: the deadline passed while waiting for {}", name_, for_what),
                      {}, "raise workload.deadline_seconds"));
  if (failure_) throw *failure_;
}

template <class Condition>
void Exchange::wait_as(int client, std::unique_lock<std::mutex>& lock, const std::string& for_what,
                       Condition condition) {
  wait(lock, for_what, [&] { return lost_.contains(client) || condition(); });
  if (lost_.contains(client))
    throw PeerGone(fmt::format("{} continues without this client", name_),
                   fmt::format("client-{}", client));
}

bool Exchange::complete(const std::set<int>& present) const {
  return missing_clients(present).empty();
}

std::string Exchange::missing_clients(const std::set<int>& present) const {
  std::string missing;
  for (int client = 1; client <= clients_; ++client)
    if (!present.contains(client) && !lost_.contains(client))
      missing += fmt::format("{}client-{}", missing.empty() ? "" : ", ", client);
  return missing;
}

void Exchange::open(const std::string& name) {
  const std::lock_guard lock(mutex_);
  if (failure_) throw *failure_;
  name_ = name;
  handed_in_.clear();
  delivered_.clear();
  step_ = Step::collecting;
  changed_.notify_all();
}

std::vector<Upload> Exchange::await_uploads() {
  std::unique_lock lock(mutex_);
  wait(lock, "uploads of " + missing_clients(handed_in_), [&] { return complete(handed_in_); });
  std::ranges::sort(uploads_, {}, &Upload::client);
  step_ = Step::averaging;
  return std::move(uploads_);
}

void Exchange::answer(Answer answer) {
  const std::lock_guard lock(mutex_);
  answer_ = std::move(answer);
  uploads_.clear();
  step_ = Step::answered;
  changed_.notify_all();
}

void Exchange::await_delivery() {
  std::unique_lock lock(mutex_);
  wait(lock, "answers to be taken by " + missing_clients(delivered_),
       [&] { return complete(delivered_); });
  answer_ = {};
  step_ = Step::closed;
}

void Exchange::await_open(int client) {
  std::unique_lock lock(mutex_);
  wait_as(client, lock, "the next round to begin",
          [&] { return step_ == Step::collecting && !handed_in_.contains(client); });
}

void Exchange::await_turn(int client) {
  std::unique_lock lock(mutex_);
  wait_as(client, lock, "the clients before it", [&] {
    for (int before = 1; before < client; ++before)
      if (!handed_in_.contains(before) && !lost_.contains(before)) return false;
    return true;
  });
}

Answer Exchange::hand_in(Upload upload, Call& call) {
  std::unique_lock lock(mutex_);
  if (failure_) throw *failure_;
  if (step_ != Step::collecting || !handed_in_.insert(upload.client).second)
    throw Error(ExitCode::cannot_measure,
                fmt::format("{}: client-{} uploaded twice", name_, upload.client));
  const int client = upload.client;
  const bool streams = upload.stream != nullptr;
  uploads_.push_back(std::move(upload));
  changed_.notify_all();
  try {
    wait_as(client, lock, "the other clients", [&] { return step_ == Step::answered; });
  } catch (...) {
    if (streams) await_end_of_average(client, lock, call);
    throw;
  }
  return answer_;
}

void Exchange::await_end_of_average(int client, std::unique_lock<std::mutex>& lock, Call& call) {
  const auto over = [&] { return step_ != Step::averaging; };
  // A cancelled call cannot tell its client why. Where the client is still there that is put off:
  // the average ends at the lost client's call, unless it hangs in this one.
  changed_.wait_for(lock, kAverageGrace, [&] { return over() || lost_.contains(client); });
  if (over()) return;
  call.cancel();
  changed_.wait(lock, over);
}

void Exchange::delivered(int client) {
  const std::lock_guard lock(mutex_);
  delivered_.insert(client);
  changed_.notify_all();
}

bool Exchange::lose(int client, const std::string& why) {
  const std::lock_guard lock(mutex_);
  if (left_.contains(client) || lost_.contains(client)) return false;
  lost_.insert(client);
  std::erase_if(uploads_, [&](const Upload& upload) { return upload.client == client; });
  if (policy_ == OnLostClient::fail || static_cast<int>(lost_.size()) == clients_)
    fail_locked(Error(ExitCode::cannot_measure,
                      fmt::format("{}: client-{} was lost: {}", name_, client, why)));
  changed_.notify_all();
  return !failure_;
}

void Exchange::refuse(int client, const Error& why) {
  const std::lock_guard lock(mutex_);
  fail_locked(Error(why.code(), fmt::format("{}: {}", name_, why.what()),
                    why.where().empty() ? fmt::format("client-{}", client) : why.where(),
                    why.advice()));
}

void Exchange::leave(int client) {
  const std::lock_guard lock(mutex_);
  left_.insert(client);
  changed_.notify_all();
}

void Exchange::await_all_left() {
  std::unique_lock lock(mutex_);
  wait(lock, "the end of " + missing_clients(left_), [&] { return complete(left_); });
}

Error Exchange::fail(const Error& error) {
  const std::lock_guard lock(mutex_);
  step_ = Step::closed;
  fail_locked(error);
  return *failure_;
}

void Exchange::fail_locked(const Error& error) {
  if (!failure_) failure_ = error;
  changed_.notify_all();
}

}  // namespace memduel
