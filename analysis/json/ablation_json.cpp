#include "analysis/json/ablation_json.h"

#include "analysis/json/json_lists.h"

namespace memduel {
namespace {

using nlohmann::json;

json cell_to_json(const AblationCell& cell) {
  return {{"arm", or_null(cell.arm)},
          {"idle", cell.idle},
          {"reference", cell.reference},
          {"reference_median", or_null(cell.reference_median)},
          {"median", or_null(cell.median)},
          {"ratio", or_null(cell.ratio)},
          {"difference", or_null(cell.difference)},
          {"ci_low", or_null(cell.ci_low)},
          {"ci_high", or_null(cell.ci_high)},
          {"p_adjusted", or_null(cell.p_adjusted)},
          {"n", cell.n},
          {"verdict", to_name(cell.verdict)},
          {"reason", cell.reason}};
}

AblationCell cell_from_json(const JsonReader& in) {
  AblationCell cell;
  cell.arm = in.maybe_text("arm");
  cell.idle = in.maybe_boolean("idle").value_or(false);
  cell.reference = in.maybe_text("reference").value_or("");
  cell.reference_median = in.maybe_number("reference_median");
  cell.median = in.maybe_number("median");
  cell.ratio = in.maybe_number("ratio");
  cell.difference = in.maybe_number("difference");
  cell.ci_low = in.maybe_number("ci_low");
  cell.ci_high = in.maybe_number("ci_high");
  cell.p_adjusted = in.maybe_number("p_adjusted");
  cell.n = in.maybe_int("n").value_or(0);
  cell.verdict = enum_at(in, "verdict", kVerdictNames);
  cell.reason = in.maybe_text("reason").value_or("");
  return cell;
}

json sum_to_json(const AblationSum& sum) {
  return {{"sum", or_null(sum.sum)},
          {"remainder", or_null(sum.remainder)},
          {"ci_low", or_null(sum.ci_low)},
          {"ci_high", or_null(sum.ci_high)},
          {"n", sum.n},
          {"missing", sum.missing}};
}

AblationSum sum_from_json(const JsonReader& in) {
  AblationSum sum;
  sum.sum = in.maybe_number("sum");
  sum.remainder = in.maybe_number("remainder");
  sum.ci_low = in.maybe_number("ci_low");
  sum.ci_high = in.maybe_number("ci_high");
  sum.n = in.maybe_int("n").value_or(0);
  for (const JsonReader& name : in.list("missing")) sum.missing.push_back(name.text());
  return sum;
}

}  // namespace

json lower_bound_to_json(const LowerBound& bound) {
  return {{"role", bound.role},
          {"metric", bound.metric},
          {"bytes", bound.bytes},
          {"formula", bound.formula},
          {"multiples", bound.multiples}};
}

LowerBound lower_bound_from_json(const JsonReader& in) {
  LowerBound bound;
  bound.role = in.at("role").text();
  bound.metric = in.at("metric").text();
  bound.bytes = in.at("bytes").number();
  bound.formula = in.maybe_text("formula").value_or("");
  for (const auto& [arm, multiple] : in.at("multiples").members())
    bound.multiples[arm] = multiple.number();
  return bound;
}

json ablation_row_to_json(const AblationRow& row) {
  return {{"optimization", row.optimization},
          {"role", row.role},
          {"metric", row.metric},
          {"phase", or_null(row.phase)},
          {"added_alone", cell_to_json(row.added_alone)},
          {"left_out", cell_to_json(row.left_out)},
          {"effect", to_name(row.effect)}};
}

AblationRow ablation_row_from_json(const JsonReader& in) {
  return {in.at("optimization").text(),
          in.at("role").text(),
          in.at("metric").text(),
          in.maybe_text("phase"),
          cell_from_json(in.at("added_alone")),
          cell_from_json(in.at("left_out")),
          enum_at(in, "effect", kSwitchEffectNames)};
}

json ablation_total_to_json(const AblationTotal& total) {
  return {{"role", total.role},
          {"metric", total.metric},
          {"phase", or_null(total.phase)},
          {"whole", cell_to_json(total.whole)},
          {"added_alone", sum_to_json(total.added_alone)},
          {"left_out", sum_to_json(total.left_out)}};
}

AblationTotal ablation_total_from_json(const JsonReader& in) {
  return {in.at("role").text(),
          in.at("metric").text(),
          in.maybe_text("phase"),
          cell_from_json(in.at("whole")),
          sum_from_json(in.at("added_alone")),
          sum_from_json(in.at("left_out"))};
}

}  // namespace memduel
