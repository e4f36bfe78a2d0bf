#include "workloads/federated/exchange.h"

#include <fmt/format.h>

#include <algorithm>

namespace memduel {

template <class Condition>
void Exchange::wait(std::unique_lock<std::mutex>& lock, const std::string& for_what,
                    Condition condition) {
  const bool in_time =
      changed_.wait_until(lock, deadline_, [&] { return failure_.has_value() || condition(); });
  if (!in_time)
    fail_locked(Error(ExitCode::cannot_measure,
                      fmt::format("{}: the deadline passed while waiting for {}", name_, for_what),
                      {}, "workload.deadline_seconds sets it"));
  if (failure_) throw *failure_;
}

std::string Exchange::missing_clients(const std::set<int>& present) const {
  std::string missing;
  for (int client = 1; client <= clients_; ++client)
    if (!present.contains(client))
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
  const auto all = [&] { return static_cast<int>(uploads_.size()) == clients_; };
  wait(lock, "uploads of " + missing_clients(handed_in_), all);
  std::sort(uploads_.begin(), uploads_.end(),
            [](const Upload& a, const Upload& b) { return a.client < b.client; });
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
       [&] { return static_cast<int>(delivered_.size()) == clients_; });
  answer_ = {};
  step_ = Step::closed;
}

void Exchange::await_open(int client) {
  std::unique_lock lock(mutex_);
  wait(lock, "the next round to begin",
       [&] { return step_ == Step::collecting && !handed_in_.contains(client); });
}

Answer Exchange::hand_in(Upload upload) {
  std::unique_lock lock(mutex_);
  if (failure_) throw *failure_;
  if (step_ != Step::collecting || !handed_in_.insert(upload.client).second)
    throw Error(ExitCode::cannot_measure,
                fmt::format("{}: client-{} handed in twice", name_, upload.client));
  uploads_.push_back(std::move(upload));
  changed_.notify_all();
  wait(lock, "the other clients", [&] { return step_ == Step::answered; });
  return answer_;
}

void Exchange::delivered(int client) {
  const std::lock_guard lock(mutex_);
  delivered_.insert(client);
  changed_.notify_all();
}

void Exchange::lose(int client, const std::string& why) {
  const std::lock_guard lock(mutex_);
  if (left_.contains(client)) return;
  fail_locked(Error(ExitCode::cannot_measure,
                    fmt::format("{}: client-{} was lost: {}", name_, client, why)));
}

void Exchange::leave(int client) {
  const std::lock_guard lock(mutex_);
  left_.insert(client);
  changed_.notify_all();
}

void Exchange::await_all_left() {
  std::unique_lock lock(mutex_);
  wait(lock, "the end of " + missing_clients(left_),
       [&] { return static_cast<int>(left_.size()) == clients_; });
}

void Exchange::fail(const Error& error) {
  const std::lock_guard lock(mutex_);
  fail_locked(error);
}

void Exchange::fail_locked(const Error& error) {
  if (!failure_) failure_ = error;
  changed_.notify_all();
}

}  // namespace memduel
