#include "reports/growth_lines.h"

#include "base/text.h"
#include "reports/difference_tables.h"
#include "reports/words.h"

namespace memduel {
namespace {

std::string outlook_of(const Growth& row) {
  switch (row.verdict) {
    case GrowthVerdict::flat:
      return "no: it is flat";
    case GrowthVerdict::growing:
      return row.projection ? projection_words(*row.projection) : "no limit is known";
    case GrowthVerdict::stepped:
      return "no: it stays after its step";
    case GrowthVerdict::settling:
      return "no: it settles";
    case GrowthVerdict::inconclusive:
      break;
  }
  return "cannot be told";
}

GrowingRow growing_row(const GrowingStack& stack) {
  GrowingRow row;
  row.amount = format_bytes(stack.bytes_per_round) + " per round";
  row.bytes_per_round = stack.bytes_per_round;
  row.stack = stack.stack;
  row.function = stack.stack.empty() ? "[no stack]" : stack.stack[telling_frame(stack.stack)];
  row.caller = telling_caller(stack.stack);
  row.phase = stack.phase;
  return row;
}

}  // namespace

std::vector<GrowthLine> growth_lines(const Results& results) {
  std::vector<GrowthLine> lines;
  for (const Growth& row : results.growth) {
    GrowthLine line{outlook_of(row), {}};
    for (const GrowingStack& stack : row.stacks) line.stacks.push_back(growing_row(stack));
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace memduel
