#include "experiment/marks/text_rounds.h"

namespace memduel {
namespace {

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

}  // namespace memduel
