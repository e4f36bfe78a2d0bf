// Marks, which say where rounds and phases begin and what a gauge reads: those that a program sends
// through memduel/annotate.h, over a socket, and those that lines of its logs are, by PCRE2
// patterns.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/metric_catalogue.h"
#include "model/run_data.h"
#include "trial/trial_plan.h"
#include "util/file.h"

namespace memduel {

/// Memory of a process at a mark, in bytes; absent where its kernel does not say.
struct MarkSizes {
  std::optional<std::int64_t> peak;  ///< VmHWM of the stretch that ends at this mark
  std::optional<std::int64_t> rss;
  std::optional<std::int64_t> anon;
  std::optional<std::int64_t> file;
};

struct Mark {
  enum class Kind { start, idle, round_begin, round_end, phase, gauge };

  Kind kind = Kind::start;
  std::int64_t t_ns = 0;  ///< CLOCK_MONOTONIC; 0 for start
  pid_t pid = 0;          ///< start
  bool no_reset = false;  ///< start: VmHWM cannot be reset, so peaks are those of the whole life
  int round = 0;          ///< round_begin, round_end
  std::string name;       ///< phase (empty: the phase ends), gauge
  double value = 0;       ///< gauge
  Direction better = Direction::undeclared;  ///< gauge
  MarkSizes sizes;
};

inline bool bounds_a_round(Mark::Kind kind) {
  return kind == Mark::Kind::round_begin || kind == Mark::Kind::round_end;
}

/// One line without its newline; nothing when it is not a mark. The format is described in
/// include/memduel/annotate.h.
std::optional<Mark> parse_mark(std::string_view line);

/// Cuts a byte stream into lines: a line that is torn over several reads is put together again, one
/// that is too long to be a mark is dropped.
class MarkReader {
 public:
  std::vector<Mark> feed(std::string_view bytes);

  /// Lines that were no marks.
  [[nodiscard]] int garbage_lines() const { return garbage_lines_; }

 private:
  std::string rest_;
  bool skipping_ = false;
  int garbage_lines_ = 0;
};

/// What one process sent; several processes of a role share the socket, and the kernel says which
/// of them each piece is from.
struct MarkBytes {
  pid_t sender = 0;
  std::string bytes;
};

/// The socket that a process sends its marks through.
class MarksSocket {
 public:
  /// Throws Error(cannot_measure) when the system gives no socket.
  MarksSocket();

  /// The end for the process; released once it was handed over.
  Descriptor& remote() { return remote_; }
  /// Inode of the remote end: MEMDUEL_MARKS_INODE.
  [[nodiscard]] std::uint64_t inode() const { return inode_; }
  [[nodiscard]] int descriptor() const { return local_.get(); }

  /// What has arrived, without waiting; nothing when there is nothing more.
  std::optional<MarkBytes> receive();
  /// All writers are gone.
  [[nodiscard]] bool closed() const { return closed_; }

 private:
  Descriptor local_;
  Descriptor remote_;
  std::uint64_t inode_ = 0;
  bool closed_ = false;
};

/// The marks of one role, whichever of its processes sends them.
class RoleMarks : public MarksSocket {
 public:
  /// Reads what has arrived and returns the new marks of the role's marking process, which is the
  /// first that says `start`; those of other processes are counted and dropped.
  std::vector<Mark> receive_marks();

  pid_t marking_pid = 0;
  int foreign_marks = 0;
  int garbage_lines = 0;

 private:
  std::map<pid_t, MarkReader> readers_;
};

/// A PCRE2 pattern for lines of logs.
class LogPattern {
 public:
  /// A named group and its number.
  struct Group {
    std::string name;
    std::size_t number = 0;
  };

  enum class Outcome {
    none,
    found,
    gave_up,  ///< too many ways to match: the line was not decided
  };

  /// What was found in one line; the texts are parts of it.
  struct Match {
    Outcome outcome = Outcome::none;
    /// By group number, 0 is the whole match; absent: the group took no part.
    std::vector<std::optional<std::string_view>> groups;
  };

  /// Throws Error(usage) with the position when `pattern` cannot be compiled.
  explicit LogPattern(const std::string& pattern);

  /// Whether the pattern is found anywhere in `line`. Bytes that are no UTF-8 match as bytes.
  [[nodiscard]] bool matches(std::string_view line) const;
  /// The first place where it is found, with its groups.
  [[nodiscard]] Match match(std::string_view line) const;

  /// In the order of their numbers.
  [[nodiscard]] const std::vector<Group>& named_groups() const { return named_groups_; }
  /// Groups, named or not, without the whole match.
  [[nodiscard]] std::size_t group_count() const { return group_count_; }

 private:
  struct Code;
  std::shared_ptr<const Code> code_;
  std::vector<Group> named_groups_;
  std::size_t group_count_ = 0;
};

/// What one line says.
struct LineMarks {
  bool idle = false;
  std::optional<int> round;
  std::optional<std::string> phase;
  std::vector<std::pair<std::string, double>> metrics;

  [[nodiscard]] bool empty() const { return !idle && !round && !phase && metrics.empty(); }
};

/// Named groups `idle`, `round`, `phase` and `metric_NAME`, or `higher_NAME` and `lower_NAME` where
/// they also declare which values are better; without a named group the first group is the round.
class TextMarkPattern {
 public:
  /// Throws Error(usage) for a text that is no regular expression, a named group of another name, a
  /// direction that contradicts the table of metrics, and a pattern without a group.
  explicit TextMarkPattern(const std::string& pattern);

  /// Empty when the line does not match. Counts what is found.
  LineMarks read(std::string_view line);

  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] bool names_rounds() const { return names_rounds_; }
  /// Of each metric that the pattern reads.
  [[nodiscard]] const std::vector<DeclaredDirection>& metrics() const { return metrics_; }

  std::int64_t lines_matched = 0;
  std::int64_t lines_undecided = 0;    ///< the search was given up
  std::int64_t values_unreadable = 0;  ///< a group that was to be a number and is none
  std::string unreadable_example;

 private:
  enum class Meaning { idle, round, phase, metric };
  struct Part {
    Meaning meaning = Meaning::round;
    std::string metric;
    std::size_t group = 1;
  };
  Part part_of(const LogPattern::Group& group);
  void take(const Part& part, std::string_view text, LineMarks& marks);
  void unreadable(std::string_view text);

  std::string text_;
  LogPattern pattern_;
  std::vector<Part> parts_;
  std::vector<DeclaredDirection> metrics_;
  bool names_rounds_ = false;
};

/// Cuts a byte stream into lines. A line ends at a newline or a carriage return, so that CRLF and
/// progress bars that rewrite their line are read too; empty lines are left out. Of a line longer
/// than kLongestLine only that much is kept.
class TextLines {
 public:
  static constexpr std::size_t kLongestLine = 64 * 1024;

  using Take = std::function<void(std::string_view line)>;

  void feed(std::string_view bytes, const Take& take);
  /// Nothing follows: what is left is a line.
  void finish(const Take& take);
  /// Forgets an unfinished line.
  void restart() { rest_.clear(); }

  [[nodiscard]] std::int64_t count() const { return count_; }

 private:
  void append(std::string_view piece);
  void end_line(std::string_view piece, const Take& take);

  std::string rest_;
  std::int64_t count_ = 0;
};

/// From what lines say to the marks of one role: a round ends where the next begins.
class TextRounds {
 public:
  /// @param lines_name_rounds when none does, the first phase begins round 1.
  explicit TextRounds(bool lines_name_rounds) : lines_name_rounds_(lines_name_rounds) {}

  /// The marks of one line, without times and sizes: idle before the first round, of a new round
  /// the end of the one before and the begin, then the phase, then the metrics. A line that names
  /// the running round again begins nothing; a number below it is passed over and counted.
  std::vector<Mark> take(const LineMarks& line);

  [[nodiscard]] int begun() const { return begun_; }
  [[nodiscard]] int out_of_order() const { return out_of_order_; }

 private:
  void begin_round(int round, std::vector<Mark>& marks);

  bool lines_name_rounds_;
  std::optional<int> running_;
  int begun_ = 0;
  int out_of_order_ = 0;
};

/// A log that is read while it is written: appended to, cut short, or renamed and made anew.
class FollowedLog {
 public:
  /// What `path` holds by now is not of this trial and is passed over; the file need not exist.
  /// @param inotify reports when the file changes; -1: nothing does.
  FollowedLog(std::filesystem::path path, int inotify);
  FollowedLog(FollowedLog&&) = default;
  FollowedLog& operator=(FollowedLog&&) = default;
  FollowedLog(const FollowedLog&) = delete;
  FollowedLog& operator=(const FollowedLog&) = delete;
  ~FollowedLog() = default;

  /// Lines that were finished since the last call, out of at most about `max_bytes`. Returns
  /// whether there is more to read at once.
  bool read(const TextLines::Take& take, std::size_t max_bytes);
  /// Reads what is there to its end; an unfinished last line is a line.
  void finish(const TextLines::Take& take);

  /// The file was there at some time.
  [[nodiscard]] bool was_seen() const { return was_seen_; }
  /// Changes are reported: the file is open and watched, and still the one at its path.
  [[nodiscard]] bool is_watched() const { return watch_ >= 0 && !was_replaced_; }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::int64_t lines() const { return lines_.count(); }

 private:
  bool open_file();
  [[nodiscard]] bool is_replaced() const;
  void restart_if_cut();
  bool read_to_end(const TextLines::Take& take, std::size_t& budget);

  std::filesystem::path path_;
  int inotify_;
  int watch_ = -1;
  Descriptor file_;
  off_t offset_ = 0;
  bool was_seen_ = false;
  bool was_replaced_ = false;
  TextLines lines_;
};

/// The marks of one line, which belong together: one reading of the role's memory does for all.
struct MarkedLine {
  std::string role;
  std::vector<Mark> marks;  ///< without times and sizes
};

/// Whether a later line of the same read marks a round of the same role, as this one does: the
/// program has gone on to it, and what it held at this line is not known.
bool is_overtaken(const std::vector<MarkedLine>& lines, std::size_t line);

/// Whether a warning is of a log in which a pattern matched no line, or that was never there.
bool is_of_unmatched_log(const Note& note);

/// Marks of a trial's roles out of the lines that they log.
class TextMarks {
 public:
  /// Between two looks for a file that is not there yet, or that nothing reports changes of.
  static constexpr std::int64_t kPollInterval = 5'000'000;

  /// Logs are followed from where they end by now. Throws Error(usage) for a bad pattern.
  explicit TextMarks(const std::vector<TextMarkSpec>& specs,
                     std::int64_t poll_interval_ns = kPollInterval);

  /// Readable when a log changed; -1 when this system does not say, and then due_ns does.
  [[nodiscard]] int descriptor() const { return inotify_.get(); }
  /// Takes note that the descriptor was readable. Logs that are written without pause are still
  /// looked at only once a millisecond.
  void changed();
  /// When `read` has something to look at; INT64_MAX when nothing is known to.
  [[nodiscard]] std::int64_t due_ns() const { return due_ns_; }

  /// What the logs of all roles say since the last call.
  std::vector<MarkedLine> read(std::int64_t now_ns);
  /// The last lines of a role that ended.
  std::vector<MarkedLine> finish(const std::string& role);
  /// The last lines of all others.
  std::vector<MarkedLine> finish();

  /// The role marks its rounds in a better way.
  void pass_over(const std::string& role) { role_named(role).passed_over = true; }

  /// Which roles' rounds are as late as their lines.
  [[nodiscard]] std::vector<Note> limitations() const;
  /// What weakens the marks: patterns that never matched, lines that came too late or out of
  /// order.
  [[nodiscard]] std::vector<Note> warnings() const;

 private:
  struct Role {
    std::string name;
    TextRounds rounds;
    bool passed_over = false;
    int begun_before = 0;   ///< rounds begun when the last look ended
    int read_together = 0;  ///< rounds whose begin was found together with the next one's
  };
  struct Source {
    std::string role;
    std::string name;  ///< for people: its standard output
    bool is_stream = false;
    FollowedLog log;
    std::vector<TextMarkPattern> patterns;
    bool finished = false;
  };

  void finish(Source& source, std::vector<MarkedLine>& seen);
  Role& role_named(const std::string& name);
  Source& source_of(const TextMarkSpec& spec);
  void take_line(Source& source, std::string_view line, std::vector<MarkedLine>& seen);
  void note_rounds_of_one_look();
  [[nodiscard]] bool matched_other_stream(const Source& source,
                                          const TextMarkPattern& pattern) const;
  void warn_of_pattern(const Source& source, const TextMarkPattern& pattern,
                       std::vector<Note>& notes) const;

  std::int64_t poll_interval_ns_;
  Descriptor inotify_;
  std::deque<Source> sources_;
  std::deque<Role> roles_;
  std::int64_t last_read_ns_ = 0;
  std::int64_t due_ns_ = INT64_MAX;
};

}  // namespace memduel
