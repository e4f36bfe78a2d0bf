// Marks that a program sends through memduel/annotate.h: their lines, the socket, and the marks of
// a role.

#include "trial/marks.h"

#include <sys/socket.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>

#include "memduel/annotate.h"
#include "util/error.h"

namespace memduel {
namespace {

constexpr std::size_t kMaxLine = 256;

/// Words separated by single spaces.
class Words {
 public:
  explicit Words(std::string_view line) : rest_(line), more_(true) {}

  std::optional<std::string_view> next() {
    if (!more_) return std::nullopt;
    const std::size_t space = rest_.find(' ');
    const std::string_view word = rest_.substr(0, space);
    more_ = space != std::string_view::npos;
    if (more_) rest_.remove_prefix(space + 1);
    if (word.empty()) return std::nullopt;
    return word;
  }

  [[nodiscard]] bool done() const { return !more_; }

 private:
  std::string_view rest_;
  bool more_;
};

template <typename Number>
std::optional<Number> number(std::optional<std::string_view> word) {
  Number value{};
  if (!word) return std::nullopt;
  const auto [end, error] = std::from_chars(word->data(), word->data() + word->size(), value);
  if (error != std::errc{} || end != word->data() + word->size()) return std::nullopt;
  return value;
}

/// A decimal number, or mantissa and exponent in C's hexadecimal form.
std::optional<double> gauge_value(std::optional<std::string_view> word) {
  if (!word) return std::nullopt;
  std::string_view text = *word;
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  const bool hexadecimal = text.starts_with("0x");
  if (hexadecimal) text.remove_prefix(2);
  if (text.empty() || text.starts_with('-')) return std::nullopt;
  double value = 0;
  const auto format = hexadecimal ? std::chars_format::hex : std::chars_format::general;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, format);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) {
    return std::nullopt;
  }
  return negative ? -value : value;
}

/// A size in bytes or "-"; false when it is neither.
bool take_size(Words& words, std::optional<std::int64_t>& size) {
  const auto word = words.next();
  if (!word) return false;
  if (*word == MEMDUEL_WIRE_NONE) return true;
  size = number<std::int64_t>(word);
  return size && *size >= 0;
}

bool take_sizes(Words& words, MarkSizes& sizes) {
  return take_size(words, sizes.peak) && take_size(words, sizes.rss) &&
         take_size(words, sizes.anon) && take_size(words, sizes.file);
}

bool take_time(Words& words, Mark& mark) {
  const auto time = number<std::int64_t>(words.next());
  mark.t_ns = time.value_or(0);
  return mark.t_ns > 0;
}

bool take_start(Words& words, Mark& mark) {
  mark.kind = Mark::Kind::start;
  const auto pid = number<pid_t>(words.next());
  mark.pid = pid.value_or(0);
  if (mark.pid <= 0) return false;
  if (words.done()) return true;
  mark.no_reset = words.next() == MEMDUEL_WIRE_NO_RESET;
  return mark.no_reset;
}

bool take_round(Words& words, Mark& mark) {
  if (!take_time(words, mark)) return false;
  const auto round = number<int>(words.next());
  mark.round = round.value_or(-1);
  return mark.round >= 0 && take_sizes(words, mark.sizes);
}

bool take_phase(Words& words, Mark& mark) {
  mark.kind = Mark::Kind::phase;
  if (!take_time(words, mark)) return false;
  const auto name = words.next();
  if (!name) return false;
  if (*name != MEMDUEL_WIRE_NONE) mark.name = *name;
  return take_sizes(words, mark.sizes);
}

bool take_gauge(Words& words, Mark& mark) {
  mark.kind = Mark::Kind::gauge;
  if (!take_time(words, mark)) return false;
  const auto name = words.next();
  const auto value = gauge_value(words.next());
  if (!name || !value) return false;
  mark.name = *name;
  mark.value = *value;
  if (words.done()) return true;
  const auto better = words.next();
  if (better == MEMDUEL_WIRE_LOWER) mark.better = Direction::lower;
  if (better == MEMDUEL_WIRE_HIGHER) mark.better = Direction::higher;
  return mark.better != Direction::undeclared;
}

bool take_mark(Words& words, Mark& mark) {
  const auto kind = words.next();
  if (!kind) return false;
  if (*kind == MEMDUEL_WIRE_START) return take_start(words, mark);
  if (*kind == MEMDUEL_WIRE_PHASE) return take_phase(words, mark);
  if (*kind == MEMDUEL_WIRE_GAUGE) return take_gauge(words, mark);
  if (*kind == MEMDUEL_WIRE_IDLE) {
    mark.kind = Mark::Kind::idle;
    return take_time(words, mark) && take_sizes(words, mark.sizes);
  }
  if (*kind == MEMDUEL_WIRE_ROUND_BEGIN) mark.kind = Mark::Kind::round_begin;
  if (*kind == MEMDUEL_WIRE_ROUND_END) mark.kind = Mark::Kind::round_end;
  return mark.kind != Mark::Kind::start && take_round(words, mark);
}

}  // namespace

std::optional<Mark> parse_mark(std::string_view line) {
  Words words(line);
  Mark mark;
  if (!take_mark(words, mark) || !words.done()) return std::nullopt;
  return mark;
}

std::vector<Mark> MarkReader::feed(std::string_view bytes) {
  std::vector<Mark> marks;
  while (!bytes.empty()) {
    const std::size_t newline = bytes.find('\n');
    const std::string_view piece = bytes.substr(0, newline);
    if (!skipping_) rest_.append(piece.substr(0, kMaxLine + 1));
    if (rest_.size() > kMaxLine) {
      skipping_ = true;
      rest_.clear();
    }
    if (newline == std::string_view::npos) break;
    bytes.remove_prefix(newline + 1);
    auto mark = skipping_ ? std::nullopt : parse_mark(rest_);
    if (mark) {
      marks.push_back(std::move(*mark));
    } else {
      ++garbage_lines_;
    }
    rest_.clear();
    skipping_ = false;
  }
  return marks;
}

MarksSocket::MarksSocket() {
  std::array<int, 2> ends{};
  const int on = 1;
  struct stat about{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    throw Error(ExitCode::cannot_measure, "cannot create a socket for markers",
                std::strerror(errno));
  }
  local_ = Descriptor(ends[0]);
  remote_ = Descriptor(ends[1]);
  if (setsockopt(local_.get(), SOL_SOCKET, SO_PASSCRED, &on, sizeof on) != 0 ||
      fstat(remote_.get(), &about) != 0) {
    throw Error(ExitCode::cannot_measure, "cannot set up the socket for markers",
                std::strerror(errno));
  }
  // The default holds about 280 marks, and a process that finds it full waits for us.
  const int bytes = 1 << 20;
  if (setsockopt(remote_.get(), SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof bytes) != 0) {
    setsockopt(remote_.get(), SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
  }
  inode_ = about.st_ino;
}

std::optional<MarkBytes> MarksSocket::receive() {
  std::array<char, 4096> buffer{};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(ucred))> control{};
  iovec data{buffer.data(), buffer.size()};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  ssize_t got = 0;
  do {
    got = recvmsg(local_.get(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  if (got == 0 || (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK)) closed_ = true;
  if (got <= 0) return std::nullopt;
  MarkBytes piece{0, std::string(buffer.data(), static_cast<std::size_t>(got))};
  const cmsghdr* header = CMSG_FIRSTHDR(&message);
  if (header != nullptr && header->cmsg_type == SCM_CREDENTIALS) {
    ucred sender{};
    std::memcpy(&sender, CMSG_DATA(header), sizeof sender);
    piece.sender = sender.pid;
  }
  return piece;
}

std::vector<Mark> RoleMarks::receive_marks() {
  // Bounded, so that a process that marks without end does not keep us from everything else.
  constexpr int kMaxPieces = 256;
  std::vector<Mark> received;
  for (int pieces = 0; pieces < kMaxPieces; ++pieces) {
    const auto piece = receive();
    if (!piece) break;
    MarkReader& reader = readers_[piece->sender];
    const int garbage_before = reader.garbage_lines();
    for (Mark& mark : reader.feed(piece->bytes)) {
      if (marking_pid == 0 && mark.kind == Mark::Kind::start) marking_pid = piece->sender;
      if (piece->sender == marking_pid) {
        received.push_back(std::move(mark));
      } else {
        ++foreign_marks;
      }
    }
    garbage_lines += reader.garbage_lines() - garbage_before;
  }
  return received;
}

}  // namespace memduel
