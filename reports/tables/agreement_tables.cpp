#include "reports/tables/agreement_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/text.h"
#include "profilers/profile/names/short_name.h"
#include "reports/tables/difference_tables.h"
#include "reports/tables/words.h"

namespace memduel {
namespace {

constexpr const char* kNothing = "–";

std::string question_of(const std::string& kind) {
  if (kind == "peak") return "at the peak";
  return kind == "live" ? "live at the end" : "allocated";
}

std::string change_of(const AgreementAmount& amount) {
  if (!amount.difference_bytes || !amount.bytes) return {};
  const double difference = *amount.difference_bytes;
  if (amount.outcome == AgreementOutcome::same) return "±0";
  const char* sign = difference < 0 ? "−" : "+";
  const double reference = *amount.bytes - difference;
  if (reference <= 0) return sign + format_bytes(std::abs(difference));
  return sign + percent(std::abs(difference) / reference);
}

ShownAmount shown_amount(const AgreementAmount& amount) {
  ShownAmount shown;
  shown.amount = amount.bytes ? format_bytes(*amount.bytes) : kNothing;
  if (amount.bytes && amount.half_width_bytes)
    shown.amount += " ± " + format_bytes(*amount.half_width_bytes);
  shown.change = change_of(amount);
  shown.outcome = to_name(amount.outcome);
  return shown;
}

std::string stacks_text(const AgreementStacks& stacks) {
  std::string text = fmt::format("{} of {} {}", stacks.found, stacks.of, question_of(stacks.kind));
  if (stacks.found == 0) return text;
  if (stacks.same == stacks.found)
    return text + (stacks.found == 1 ? ", with the same bytes" : ", all with the same bytes");
  return text + fmt::format(", {} with the same bytes", stacks.same);
}

/// Each reason once, with the questions that it is about.
std::vector<std::string> whys(const TracerView& view) {
  std::vector<std::string> order;
  std::map<std::string, std::string> questions;
  for (const AgreementAmount& amount : view.amounts) {
    for (const AgreementReason& reason : amount.reasons) {
      std::string& about = questions[reason.text];
      if (about.empty()) order.push_back(reason.text);
      about += (about.empty() ? "" : ", ") + amount.kind;
    }
    if (amount.outcome == AgreementOutcome::unexplained && amount.reasons.empty())
      order.push_back(amount.kind + ": nothing that is known of these tracers makes them differ");
  }
  std::vector<std::string> lines;
  for (const std::string& text : order) {
    const auto about = questions.find(text);
    lines.push_back(about == questions.end() ? text : about->second + ": " + text);
  }
  if (view.stacks)
    for (const AgreementReason& reason : view.stacks->reasons)
      lines.push_back("stacks: " + reason.text);
  return lines;
}

AgreementRow row_for(const TracerView& view) {
  AgreementRow row;
  row.tracer = view.tracer;
  row.tool = view.tool;
  row.counts = view.counts;
  if (!view.besides.empty()) row.counts += "; " + view.besides;
  for (const AgreementAmount& amount : view.amounts) row.amounts.push_back(shown_amount(amount));
  if (view.stacks) row.stacks = stacks_text(*view.stacks);
  row.why = whys(view);
  return row;
}

std::string cell_text(const AgreementStack& stack, const AgreementCell& cell) {
  std::string text = format_bytes(cell.bytes);
  // It has other stacks of the reference in the same one.
  const bool shared = std::abs(cell.reference_bytes - stack.bytes) >= 0.5;
  if (shared) text += fmt::format(" (of {})", format_bytes(cell.reference_bytes));
  return text;
}

AgreementStackRow stack_row(const AgreementStack& stack, const TracerAgreement& agreement) {
  AgreementStackRow row;
  row.question = question_of(stack.kind);
  row.stack = stack.stack;
  row.function =
      stack.stack.empty() ? "[no stack]" : short_name(stack.stack[telling_frame(stack.stack)]);
  for (const TracerView& view : agreement.tracers) {
    const auto cell = std::ranges::find(stack.cells, view.tracer, &AgreementCell::tracer);
    if (view.tracer == agreement.reference)
      row.amounts.push_back(format_bytes(stack.bytes));
    else
      row.amounts.emplace_back(cell == stack.cells.end() ? kNothing : cell_text(stack, *cell));
  }
  return row;
}

}  // namespace

std::vector<AgreementTable> agreement_tables(const Results& results) {
  std::vector<AgreementTable> tables;
  for (const TracerAgreement& agreement : results.agreement) {
    AgreementTable table;
    table.title = fmt::format("{} of {}", agreement.role, agreement.arm);
    table.reference = agreement.reference;
    for (const TracerView& view : agreement.tracers) table.rows.push_back(row_for(view));
    for (const AgreementStack& stack : agreement.stacks)
      table.stacks.push_back(stack_row(stack, agreement));
    tables.push_back(std::move(table));
  }
  return tables;
}

std::string agreement_sentence(const Results& results) {
  if (results.agreement.empty()) return {};
  std::map<AgreementOutcome, int> amounts;
  std::set<std::string> tracers;
  std::set<std::string> references;
  for (const TracerAgreement& agreement : results.agreement) {
    references.insert(agreement.reference);
    for (const TracerView& view : agreement.tracers) {
      if (view.tracer != agreement.reference) tracers.insert(view.tracer);
      for (const AgreementAmount& amount : view.amounts) ++amounts[amount.outcome];
    }
  }
  const auto names = [](const std::set<std::string>& all) {
    std::string text;
    for (const std::string& name : all) text += (text.empty() ? "" : ", ") + name;
    return text;
  };
  return fmt::format(
      "Tracers side by side, {} against {}: of their peaks and totals {} are the same or within "
      "0.5 %, {} differ as known properties of the tracers explain, {} may, {} are unexplained.",
      names(tracers), names(references),
      amounts[AgreementOutcome::same] + amounts[AgreementOutcome::close],
      amounts[AgreementOutcome::explained], amounts[AgreementOutcome::possible],
      amounts[AgreementOutcome::unexplained]);
}

}  // namespace memduel
