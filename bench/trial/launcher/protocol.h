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

/// Steps of Unstarted.
inline constexpr const char* kEnteringDirectory = "entering the working directory";
inline constexpr const char* kExecutingProgram = "executing the program";

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

/// Writes the fields of a message, or reads them, in the order in which they are passed to it.
class FieldCoder {
 public:
  explicit FieldCoder(const char* name) : fields_{name}, writes_(true) {}
  explicit FieldCoder(std::vector<std::string> fields) : fields_(std::move(fields)) {}

  void operator()(auto&... values) { (pass(values), ...); }

  [[nodiscard]] const std::vector<std::string>& fields() const { return fields_; }
  /// Whether all fields were read, and each was what it should be.
  [[nodiscard]] bool is_done() const { return is_good_ && at_ == fields_.size(); }

 private:
  [[nodiscard]] bool is_at(const char* text) const {
    return at_ < fields_.size() && fields_[at_] == text;
  }
  void pass(std::string& text) {
    if (writes_) return fields_.push_back(text);
    is_good_ = is_good_ && at_ < fields_.size();
    text = is_good_ ? fields_[at_++] : std::string();
  }
  void pass(auto& number)
    requires std::is_arithmetic_v<std::remove_reference_t<decltype(number)>>
  {
    char digits[32];
    std::string text;
    if (writes_) text.assign(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
    pass(text);
    if (writes_) return;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    is_good_ = is_good_ && error == std::errc() && end == text.data() + text.size();
  }
  template <class Value>
  void pass(std::optional<Value>& value) {
    std::string none = "-";
    const bool is_absent = writes_ ? !value : is_at("-");
    is_absent ? pass(none) : pass(value ? *value : value.emplace());
  }
  void pass(std::vector<std::string>& list) {
    std::size_t count = list.size();
    pass(count);
    is_good_ = is_good_ && (writes_ || count <= fields_.size() - at_);
    if (is_good_) list.resize(count);
    for (std::string& item : list) pass(item);
  }

  std::vector<std::string> fields_;
  bool writes_ = false;
  std::size_t at_ = 1;
  bool is_good_ = true;
};

template <class Message>
std::vector<std::string> fields_of(Message message) {
  FieldCoder coder(Message::kName);
  message.code(coder);
  return coder.fields();
}

/// The message of these that has the packet's name; nothing if none has, or if its fields are not
/// that message's.
template <class... Messages>
std::optional<std::variant<Messages...>> message_in(const std::vector<std::string>& fields) {
  std::optional<std::variant<Messages...>> found;
  const auto take_if_it_is = [&]<class Message>(Message message) {
    if (fields.empty() || fields.front() != Message::kName) return;
    FieldCoder coder(fields);
    message.code(coder);
    if (coder.is_done()) found = std::move(message);
  };
  (take_if_it_is(Messages()), ...);
  return found;
}

}  // namespace memduel
