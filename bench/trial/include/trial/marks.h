// Marks of a trial's roles out of the lines that they log.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "base/descriptor.h"
#include "base/run_data.h"
#include "experiment/marks/followed_log.h"
#include "experiment/marks/marks.h"
#include "experiment/marks/text_mark_pattern.h"
#include "experiment/marks/text_mark_spec.h"
#include "experiment/marks/text_rounds.h"

namespace memduel {

/// The marks of one line, which belong together: one reading of the role's memory does for all.
struct MarkedLine {
  std::string role;
  std::vector<Mark> marks;  ///< without times and sizes
};

/// Whether a later line of the same read marks a round of the same role, as this one does: the
/// program has gone on to it, and what it held at this line is not known.
bool is_overtaken(const std::vector<MarkedLine>& lines, std::size_t line);

class TextMarks {
 public:
  /// Logs are followed from where they end by now. Throws Error(usage) for a bad pattern.
  explicit TextMarks(const std::vector<TextMarkSpec>& specs);

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
    FollowedLog log;
    std::vector<TextMarkPattern> patterns;
    bool finished = false;
  };

  void finish(Source& source, std::vector<MarkedLine>& seen);
  Role& role_named(const std::string& name);
  Source& source_of(const TextMarkSpec& spec);
  void take_line(Source& source, std::string_view line, std::vector<MarkedLine>& seen);
  void note_rounds_of_one_look();
  static void warn_of_pattern(const Source& source, const TextMarkPattern& pattern,
                              std::vector<Note>& notes);

  Descriptor inotify_;
  std::deque<Source> sources_;
  std::deque<Role> roles_;
  std::int64_t last_read_ns_ = 0;
  std::int64_t due_ns_ = INT64_MAX;
};

}  // namespace memduel
