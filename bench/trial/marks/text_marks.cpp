#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "near_match.h"
#include "trial/marks.h"
#include "util/text.h"

namespace memduel {
namespace {

constexpr const char* kNeverMatched = "pattern_never_matched";
constexpr const char* kLogMissing = "mark_log_missing";

Mark round_mark(Mark::Kind kind, int round) {
  Mark mark;
  mark.kind = kind;
  mark.round = round;
  return mark;
}

}  // namespace

void TextRounds::begin_round(int round, std::vector<Mark>& marks) {
  if (running_ == round) return;
  if (running_ && round < *running_) {
    ++out_of_order_;
    return;
  }
  if (running_) marks.push_back(round_mark(Mark::Kind::round_end, *running_));
  marks.push_back(round_mark(Mark::Kind::round_begin, round));
  running_ = round;
  ++begun_;
}

std::vector<Mark> TextRounds::take(const LineMarks& line) {
  std::vector<Mark> marks;
  if (line.idle && !running_) marks.emplace_back().kind = Mark::Kind::idle;
  if (line.round) begin_round(*line.round, marks);
  if (line.phase) {
    if (!lines_name_rounds_ && !running_) begin_round(1, marks);
    Mark phase;
    phase.kind = Mark::Kind::phase;
    phase.name = *line.phase;
    marks.push_back(std::move(phase));
  }
  for (const auto& [name, value] : line.metrics) {
    Mark gauge;
    gauge.kind = Mark::Kind::gauge;
    gauge.name = name;
    gauge.value = value;
    marks.push_back(std::move(gauge));
  }
  return marks;
}

namespace {

/// Between two looks at logs that change all the time.
constexpr std::int64_t kShortestInterval = 1'000'000;
/// Of one log in one look: more than any disk writes in the interval, and soon searched.
constexpr std::size_t kLookBytes = std::size_t{1} << 20;

std::string name_of(const TextMarkSpec& spec) {
  using From = TextMarkSpec::From;
  if (spec.from == From::file) return spec.file.filename().string();
  return spec.from == From::standard_error ? "standard error" : "standard output";
}

bool any_names_rounds(const std::vector<TextMarkSpec>& specs, const std::string& role) {
  return std::ranges::any_of(specs, [&](const TextMarkSpec& spec) {
    return spec.role == role && TextMarkPattern(spec.pattern).names_rounds();
  });
}

}  // namespace

bool is_overtaken(const std::vector<MarkedLine>& lines, std::size_t line) {
  const auto marks_a_round = [&](const MarkedLine& other) {
    return other.role == lines[line].role && std::ranges::any_of(other.marks, [](const Mark& mark) {
             return bounds_a_round(mark.kind);
           });
  };
  const auto next = lines.begin() + static_cast<std::ptrdiff_t>(line) + 1;
  return marks_a_round(lines[line]) && std::any_of(next, lines.end(), marks_a_round);
}

TextMarks::TextMarks(const std::vector<TextMarkSpec>& specs, std::int64_t poll_interval_ns)
    : poll_interval_ns_(poll_interval_ns) {
  if (specs.empty()) return;
  inotify_ = Descriptor(inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  due_ns_ = 0;
  for (const TextMarkSpec& spec : specs) {
    const bool is_new =
        std::ranges::none_of(roles_, [&](const Role& role) { return role.name == spec.role; });
    if (is_new) roles_.push_back({spec.role, TextRounds(any_names_rounds(specs, spec.role))});
    source_of(spec).patterns.emplace_back(spec.pattern);
  }
}

TextMarks::Role& TextMarks::role_named(const std::string& name) {
  return *std::ranges::find(roles_, name, &Role::name);
}

TextMarks::Source& TextMarks::source_of(const TextMarkSpec& spec) {
  for (Source& source : sources_) {
    if (source.role == spec.role && source.log.path() == spec.file) return source;
  }
  return sources_.emplace_back(Source{spec.role,
                                      name_of(spec),
                                      spec.from != TextMarkSpec::From::file,
                                      FollowedLog(spec.file, inotify_.get()),
                                      {}});
}

void TextMarks::changed() {
  std::array<char, 4096> events{};
  while (::read(inotify_.get(), events.data(), events.size()) > 0) {
  }
  due_ns_ = std::min(due_ns_, last_read_ns_ + kShortestInterval);
}

void TextMarks::take_line(Source& source, std::string_view line, std::vector<MarkedLine>& seen) {
  LineMarks all;
  for (TextMarkPattern& pattern : source.patterns) {
    LineMarks marks = pattern.read(line);
    all.idle = all.idle || marks.idle;
    if (marks.round) all.round = marks.round;
    if (marks.phase) all.phase = std::move(marks.phase);
    all.metrics.insert(all.metrics.end(), marks.metrics.begin(), marks.metrics.end());
  }
  if (all.empty()) return;
  auto marks = role_named(source.role).rounds.take(all);
  if (!marks.empty()) seen.push_back({source.role, std::move(marks)});
}

std::vector<MarkedLine> TextMarks::read(std::int64_t now_ns) {
  std::vector<MarkedLine> seen;
  if (now_ns < due_ns_) return seen;
  last_read_ns_ = now_ns;
  due_ns_ = INT64_MAX;
  for (Source& source : sources_) {
    if (source.finished) continue;
    const bool more =
        source.log.read([&](std::string_view line) { take_line(source, line, seen); }, kLookBytes);
    if (more) due_ns_ = now_ns;
    if (!source.log.is_watched()) due_ns_ = std::min(due_ns_, now_ns + poll_interval_ns_);
  }
  note_rounds_of_one_look();
  return seen;
}

void TextMarks::finish(Source& source, std::vector<MarkedLine>& seen) {
  if (source.finished) return;
  source.log.finish([&](std::string_view line) { take_line(source, line, seen); });
  source.finished = true;
}

std::vector<MarkedLine> TextMarks::finish(const std::string& role) {
  std::vector<MarkedLine> seen;
  for (Source& source : sources_) {
    if (source.role == role) finish(source, seen);
  }
  note_rounds_of_one_look();
  return seen;
}

std::vector<MarkedLine> TextMarks::finish() {
  std::vector<MarkedLine> seen;
  for (Source& source : sources_) finish(source, seen);
  note_rounds_of_one_look();
  return seen;
}

void TextMarks::note_rounds_of_one_look() {
  for (Role& role : roles_) {
    role.read_together += std::max(0, role.rounds.begun() - role.begun_before - 1);
    role.begun_before = role.rounds.begun();
  }
}

std::vector<Note> TextMarks::limitations() const {
  std::vector<std::string> marked;
  for (const Role& role : roles_) {
    if (role.rounds.begun() > 0 && !role.passed_over) marked.push_back(role.name);
  }
  if (marked.empty()) return {};
  return {
      {"marks_from_text",
       fmt::format("rounds of {} are marked by lines of its log, so memory is read shortly after "
                   "each line is written",
                   fmt::join(marked, ", ")),
       "docs/marks.md states the delay; markers of memduel/annotate.h and memduel_annotate.py "
       "have none"}};
}

std::vector<Note> TextMarks::warnings() const {
  std::vector<Note> notes;
  for (const Source& source : sources_) {
    for (const TextMarkPattern& pattern : source.patterns) warn_of_pattern(source, pattern, notes);
  }
  for (const Role& role : roles_) {
    if (role.passed_over)
      notes.push_back(
          {"text_marks_passed_over",
           fmt::format("{} sends markers itself, so only the metrics in its log lines count",
                       role.name),
           "remove round and phase from its log patterns"});
    if (role.read_together > 0)
      notes.push_back(
          {"rounds_read_together",
           fmt::format("the memory of {} of {} was not read, because their log lines arrived "
                       "together with those of the next round",
                       format_count(role.read_together, "round"), role.name),
           "unbuffer its output (stdbuf -oL PROGRAM …); rounds shorter than two milliseconds "
           "need markers in the program"});
    if (role.rounds.out_of_order() > 0)
      notes.push_back(
          {"rounds_out_of_order",
           fmt::format("{} ignored: {} logged an earlier round than the current one",
                       format_count(role.rounds.out_of_order(), "line was", "lines were"),
                       role.name),
           "make the log pattern match only the line that begins a round"});
  }
  return notes;
}

/// A program prints its rounds on one of its two streams.
bool TextMarks::matched_other_stream(const Source& source, const TextMarkPattern& pattern) const {
  return source.is_stream && std::ranges::any_of(sources_, [&](const Source& other) {
           return other.is_stream && other.role == source.role &&
                  std::ranges::any_of(other.patterns, [&](const TextMarkPattern& same) {
                    return same.text() == pattern.text() && same.lines_matched > 0;
                  });
         });
}

bool is_of_unmatched_log(const Note& note) {
  return note.code == kNeverMatched || note.code == kLogMissing;
}

void TextMarks::warn_of_pattern(const Source& source, const TextMarkPattern& pattern,
                                std::vector<Note>& notes) const {
  if (!source.log.was_seen()) {
    notes.push_back({kLogMissing,
                     fmt::format("{}: its log {} never existed, so {} matched nothing", source.role,
                                 source.name, pattern.text()),
                     "check which name the job gives its log"});
  } else if (pattern.lines_matched == 0 && !matched_other_stream(source, pattern)) {
    // One that gave up in a line would do so again.
    const std::string near =
        pattern.lines_undecided > 0 ? "" : near_match(source.log.path(), pattern.text());
    notes.push_back(
        {kNeverMatched,
         fmt::format("{}: no line of its {} matches {}", source.role, source.name, pattern.text()),
         fmt::format("{}; {} read, which the run has in logs/",
                     near.empty() ? "the pattern must match part of a line" : near,
                     format_count(source.log.lines(), "line was", "lines were"))});
  }
  if (pattern.values_unreadable > 0)
    notes.push_back(
        {"mark_value_unreadable",
         fmt::format("{}: {} matches of {} contain no number, the first one is {}", source.role,
                     pattern.values_unreadable, pattern.text(), pattern.unreadable_example),
         "make the groups round and metric_NAME match only digits"});
  if (pattern.lines_undecided > 0)
    notes.push_back({"pattern_gave_up",
                     fmt::format("{}: {} of its {} too many ways to match {}", source.role,
                                 format_count(pattern.lines_undecided, "line"),
                                 source.name + (pattern.lines_undecided == 1 ? " has" : " have"),
                                 pattern.text()),
                     "avoid nested repetitions"});
}

}  // namespace memduel
