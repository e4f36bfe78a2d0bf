#include "analysis/json/differences_json.h"

#include "analysis/json/json_lists.h"

namespace memduel {

using nlohmann::json;

json difference_to_json(const Difference& row) {
  return {{"candidate", row.candidate},
          {"role", row.role},
          {"kind", row.kind},
          {"heap", row.heap},
          {"stack", row.stack},
          {"bytes", row.bytes},
          {"share", row.share},
          {"phase", or_null(row.phase)},
          {"blocks", row.blocks},
          {"baseline_bytes", row.baseline_bytes},
          {"candidate_bytes", row.candidate_bytes},
          {"half_width_bytes", or_null(row.half_width_bytes)}};
}

Difference difference_from_json(const JsonReader& in) {
  Difference row;
  row.candidate = in.at("candidate").text();
  row.role = in.at("role").text();
  row.kind = in.at("kind").text();
  row.heap = in.maybe_text("heap").value_or("malloc");
  for (const JsonReader& frame : in.at("stack").elements()) row.stack.push_back(frame.text());
  row.bytes = in.at("bytes").number();
  row.share = in.at("share").number();
  row.phase = in.maybe_text("phase");
  row.blocks = in.maybe_number("blocks").value_or(0);
  row.baseline_bytes = in.maybe_number("baseline_bytes").value_or(0);
  row.candidate_bytes = in.maybe_number("candidate_bytes").value_or(0);
  row.half_width_bytes = in.maybe_number("half_width_bytes");
  return row;
}

json difference_total_to_json(const DifferenceTotal& total) {
  return {{"candidate", total.candidate},
          {"role", total.role},
          {"kind", total.kind},
          {"heap", total.heap},
          {"baseline_bytes", total.baseline_bytes},
          {"candidate_bytes", total.candidate_bytes},
          {"unmatched_share", total.unmatched_share},
          {"guessed_share", total.guessed_share},
          {"stacks", total.stacks}};
}

DifferenceTotal difference_total_from_json(const JsonReader& in) {
  DifferenceTotal total;
  total.candidate = in.at("candidate").text();
  total.role = in.at("role").text();
  total.kind = in.at("kind").text();
  total.heap = in.maybe_text("heap").value_or("malloc");
  total.baseline_bytes = in.at("baseline_bytes").number();
  total.candidate_bytes = in.at("candidate_bytes").number();
  total.unmatched_share = in.at("unmatched_share").number();
  total.guessed_share = in.maybe_number("guessed_share").value_or(0);
  total.stacks = in.maybe_int("stacks").value_or(0);
  return total;
}

}  // namespace memduel
