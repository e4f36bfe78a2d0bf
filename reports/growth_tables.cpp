// Growth in a report: where each series leads, and the stacks that grow.

#include <fmt/format.h>

#include <string>
#include <vector>

#include "profile/function_names.h"
#include "reports/memory_tables.h"
#include "util/text.h"
#include "verdict/questions.h"
#include "words.h"

namespace memduel {
namespace {

std::string outlook_of(const Growth& row) {
  if (row.verdict == GrowthVerdict::inconclusive)
    return row.rounds_needed
               ? fmt::format("inconclusive; needs about {} {}", *row.rounds_needed,
                             row.metric.ends_with("_per_minute") ? "minutes" : "rounds")
               : "inconclusive";
  if (row.verdict != GrowthVerdict::growing)
    return row.level ? "no: stays near " + format_bytes(*row.level) : "no";
  return row.projection ? projection_words(*row.projection) : "not within ten times these rounds";
}

GrowingRow growing_row(const GrowingStack& stack) {
  GrowingRow row;
  row.amount = format_bytes(stack.bytes_per_round) + " per round";
  row.bytes_per_round = stack.bytes_per_round;
  row.stack = stack.stack;
  row.function =
      stack.stack.empty() ? "[no stack]" : short_name(stack.stack[telling_frame(stack.stack)]);
  row.caller = short_name(telling_caller(stack.stack));
  row.phase = stack.phase;
  row.location = stack.location;
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
