#include "analysis/json/agreement_json.h"

#include "analysis/json/json_lists.h"
#include "analysis/values/names.h"

namespace memduel {
namespace {

using nlohmann::json;

json reason_to_json(const AgreementReason& reason) {
  return {{"code", reason.code},
          {"text", reason.text},
          {"low_bytes", or_null(reason.low_bytes)},
          {"high_bytes", or_null(reason.high_bytes)}};
}

AgreementReason reason_from_json(const JsonReader& in) {
  return {in.at("code").text(), in.at("text").text(), in.maybe_number("low_bytes"),
          in.maybe_number("high_bytes")};
}

json amount_to_json(const AgreementAmount& amount) {
  return {{"kind", amount.kind},
          {"bytes", or_null(amount.bytes)},
          {"half_width_bytes", or_null(amount.half_width_bytes)},
          {"difference_bytes", or_null(amount.difference_bytes)},
          {"outcome", to_name(amount.outcome)},
          {"reasons", list_to_json(amount.reasons, reason_to_json)}};
}

AgreementAmount amount_from_json(const JsonReader& in) {
  AgreementAmount amount;
  amount.kind = in.at("kind").text();
  amount.bytes = in.maybe_number("bytes");
  amount.half_width_bytes = in.maybe_number("half_width_bytes");
  amount.difference_bytes = in.maybe_number("difference_bytes");
  amount.outcome = enum_at(in, "outcome", kAgreementOutcomeNames);
  amount.reasons = list_from_json(in, "reasons", reason_from_json);
  return amount;
}

json found_stacks_to_json(const AgreementStacks& stacks) {
  return {{"kind", stacks.kind},
          {"of", stacks.of},
          {"found", stacks.found},
          {"same", stacks.same},
          {"reasons", list_to_json(stacks.reasons, reason_to_json)}};
}

AgreementStacks found_stacks_from_json(const JsonReader& in) {
  AgreementStacks stacks;
  stacks.kind = in.at("kind").text();
  stacks.of = in.maybe_int("of").value_or(0);
  stacks.found = in.maybe_int("found").value_or(0);
  stacks.same = in.maybe_int("same").value_or(0);
  stacks.reasons = list_from_json(in, "reasons", reason_from_json);
  return stacks;
}

json view_to_json(const TracerView& view) {
  return {{"tracer", view.tracer},
          {"tool", view.tool},
          {"counts", view.counts},
          {"besides", view.besides},
          {"trials", view.trials},
          {"images", view.images},
          {"interval_bytes", or_null(view.interval_bytes)},
          {"mapping_peak_bytes", or_null(view.mapping_peak_bytes)},
          {"amounts", list_to_json(view.amounts, amount_to_json)},
          {"stacks", view.stacks ? found_stacks_to_json(*view.stacks) : json(nullptr)}};
}

TracerView view_from_json(const JsonReader& in) {
  TracerView view;
  view.tracer = in.at("tracer").text();
  view.tool = in.at("tool").text();
  view.counts = in.at("counts").text();
  view.besides = in.maybe_text("besides").value_or("");
  view.trials = in.maybe_int("trials").value_or(0);
  view.images = in.maybe_int("images").value_or(0);
  view.interval_bytes = in.maybe_number("interval_bytes");
  view.mapping_peak_bytes = in.maybe_number("mapping_peak_bytes");
  view.amounts = list_from_json(in, "amounts", amount_from_json);
  if (const auto stacks = in.find("stacks")) view.stacks = found_stacks_from_json(*stacks);
  return view;
}

json stack_cell_to_json(const AgreementCell& cell) {
  return {
      {"tracer", cell.tracer}, {"bytes", cell.bytes}, {"reference_bytes", cell.reference_bytes}};
}

AgreementCell stack_cell_from_json(const JsonReader& in) {
  return {in.at("tracer").text(), in.at("bytes").number(), in.at("reference_bytes").number()};
}

json stack_to_json(const AgreementStack& stack) {
  return {{"kind", stack.kind},
          {"stack", stack.stack},
          {"bytes", stack.bytes},
          {"cells", list_to_json(stack.cells, stack_cell_to_json)}};
}

AgreementStack stack_from_json(const JsonReader& in) {
  AgreementStack stack;
  stack.kind = in.at("kind").text();
  for (const JsonReader& frame : in.at("stack").elements()) stack.stack.push_back(frame.text());
  stack.bytes = in.at("bytes").number();
  stack.cells = list_from_json(in, "cells", stack_cell_from_json);
  return stack;
}

}  // namespace

json agreement_to_json(const TracerAgreement& agreement) {
  return {{"arm", agreement.arm},
          {"role", agreement.role},
          {"reference", agreement.reference},
          {"tracers", list_to_json(agreement.tracers, view_to_json)},
          {"stacks", list_to_json(agreement.stacks, stack_to_json)}};
}

TracerAgreement agreement_from_json(const JsonReader& in) {
  TracerAgreement agreement;
  agreement.arm = in.at("arm").text();
  agreement.role = in.at("role").text();
  agreement.reference = in.at("reference").text();
  agreement.tracers = list_from_json(in, "tracers", view_from_json);
  agreement.stacks = list_from_json(in, "stacks", stack_from_json);
  return agreement;
}

}  // namespace memduel
