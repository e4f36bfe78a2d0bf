// The messages between memduel and memduel-launcher: one packet per request or report over an
// AF_UNIX SOCK_SEQPACKET socket. A packet is a list of text fields: the message's name, then what
// `code` of its struct lists. A number is decimal, an absent one "-"; a list is its length and its
// items.
#pragma once

#include <sys/types.h>

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "meters/cgroup.h"
#include "trial/processes.h"

namespace memduel {

// Requests.

/// With descriptors for stdout, stderr and, if it may send marks, these.
struct SpawnRequest {
  static constexpr const char* kName = "spawn";
  std::string role;
  std::string cwd;
  std::vector<std::string> arguments;    ///< arguments[0] is looked up in the new PATH
  std::vector<std::string> environment;  ///< NAME=VALUE, added to the launcher's own
  void code(auto& coder) { coder(role, cwd, arguments, environment); }
};

struct SignalRequest {
  static constexpr const char* kName = "signal";
  std::string role;
  int number = 0;
  void code(auto& coder) { coder(role, number); }
};

/// Of each process that is spawned from now on.
struct LimitDataRequest {
  static constexpr const char* kName = "limit_data";
  std::int64_t bytes = 0;
  void code(auto& coder) { coder(bytes); }
};

struct EndRequest {
  static constexpr const char* kName = "end";
  void code(auto& coder) { coder(); }
};

// Reports. Times are CLOCK_MONOTONIC, read beside the process: memduel may be late to look.

struct LauncherReady {
  static constexpr const char* kName = "ready";
  TrialCgroup cgroup;  ///< empty if none could be made
  void code(auto& coder) { coder(cgroup.memory_dir, cgroup.kill_dir); }
};

struct Spawned {
  static constexpr const char* kName = "spawned";
  std::string role;
  pid_t pid = 0;
  std::int64_t begin_ns = 0;
  void code(auto& coder) { coder(role, pid, begin_ns); }
};

/// A step of Unstarted.
inline constexpr const char* kEnteringDirectory = "entering the working directory";

struct Unstarted {
  static constexpr const char* kName = "unstarted";
  std::string role;
  std::string step;  ///< what failed, for people
  int error = 0;     ///< an errno value
  void code(auto& coder) { coder(role, step, error); }
};

struct Exited {
  static constexpr const char* kName = "exited";
  std::string role;
  ExitRecord record;
  void code(auto& coder) {
    coder(role, record.t_ns, record.status, record.signal, record.cpu_seconds, record.max_rss_bytes,
          record.minor_faults, record.major_faults);
  }
};

/// A process that no role was started as, and that its own parent did not wait for.
struct Reaped {
  static constexpr const char* kName = "reaped";
  pid_t pid = 0;
  std::int64_t max_rss_bytes = 0;  ///< of the process and of children it waited for
  void code(auto& coder) { coder(pid, max_rss_bytes); }
};

struct Escaped {
  static constexpr const char* kName = "escaped";
  std::string process;  ///< that had left the trial's tree and was killed: "812 (sleep)"
  void code(auto& coder) { coder(process); }
};

/// All processes are gone, or cannot be killed.
struct LauncherEnded {
  static constexpr const char* kName = "ended";
  double cpu_seconds = 0;  ///< of the launcher itself
  int left_over = 0;       ///< processes that the roles had left behind
  int survivors = 0;
  std::optional<std::int64_t> peak_cgroup_bytes;
  void code(auto& coder) { coder(cpu_seconds, left_over, survivors, peak_cgroup_bytes); }
};

// Packets.

struct Packet {
  std::vector<std::string> fields;
  std::vector<int> descriptors;  ///< owned by the receiver
};

/// Sends one packet. Returns 0 or an errno value (EMSGSIZE: the command line is too long).
int send_packet(int socket, const std::vector<std::string>& fields,
                const std::vector<int>& descriptors = {});

/// Waits for one packet; nothing when the other side is gone.
std::optional<Packet> receive_packet(int socket);

class FieldWriter {
 public:
  explicit FieldWriter(std::vector<std::string>& fields) : fields_(fields) {}
  void operator()(const auto&... values) { (put(values), ...); }

 private:
  void put(const std::string& text) { fields_.push_back(text); }
  template <class Number>
    requires std::is_arithmetic_v<Number>
  void put(Number number) {
    char text[32];
    fields_.emplace_back(text, std::to_chars(text, text + sizeof text, number).ptr);
  }
  template <class Value>
  void put(const std::optional<Value>& value) {
    value ? put(*value) : put(std::string("-"));
  }
  void put(const std::vector<std::string>& list) {
    put(list.size());
    fields_.insert(fields_.end(), list.begin(), list.end());
  }

  std::vector<std::string>& fields_;
};

class FieldReader {
 public:
  /// The fields of a message, after its name.
  explicit FieldReader(const std::vector<std::string>& fields) : fields_(fields) {}
  void operator()(auto&... values) { (take(values), ...); }
  /// Whether all fields were read, and each was what it should be.
  [[nodiscard]] bool is_done() const { return is_good_ && at_ == fields_.size(); }

 private:
  const std::string& next() {
    static const std::string none;
    is_good_ = is_good_ && at_ < fields_.size();
    return is_good_ ? fields_[at_++] : none;
  }
  void take(std::string& text) { text = next(); }
  template <class Number>
    requires std::is_arithmetic_v<Number>
  void take(Number& number) {
    const std::string& text = next();
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    is_good_ = is_good_ && error == std::errc() && end == text.data() + text.size();
  }
  template <class Value>
  void take(std::optional<Value>& value) {
    if (at_ < fields_.size() && fields_[at_] == "-")
      ++at_;
    else
      take(value.emplace());
  }
  void take(std::vector<std::string>& list) {
    std::size_t count = 0;
    take(count);
    is_good_ = is_good_ && count <= fields_.size() - at_;
    for (; is_good_ && count > 0; --count) list.push_back(next());
  }

  const std::vector<std::string>& fields_;
  std::size_t at_ = 1;
  bool is_good_ = true;
};

template <class Message>
std::vector<std::string> fields_of(Message message) {
  std::vector<std::string> fields = {Message::kName};
  FieldWriter writer(fields);
  message.code(writer);
  return fields;
}

/// The first of these messages that has the packet's name; nothing if none has, or if its fields
/// are not that message's.
template <class... Messages>
std::optional<std::variant<Messages...>> message_in(const std::vector<std::string>& fields) {
  std::optional<std::variant<Messages...>> found;
  const auto take_if_it_is = [&]<class Message>(Message message) {
    if (fields.empty() || fields.front() != Message::kName) return false;
    FieldReader reader(fields);
    message.code(reader);
    if (reader.is_done()) found = std::move(message);
    return true;
  };
  static_cast<void>((take_if_it_is(Messages()) || ...));
  return found;
}

}  // namespace memduel
