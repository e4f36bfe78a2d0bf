#include "reports/tables/agreement_tables.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "profilers/profile/names/short_name.h"
#include "reports/tables/difference_tables.h"
#include "reports/tables/words.h"

namespace memduel {
namespace {

constexpr const char* kNoAmount = "–";

std::string question_of(const std::string& kind) {
  if (kind == "peak") return "at the peak";
  return kind == "live" ? "live at the end" : "allocated";
}

/// Of the reference's amount; absent where one does not know it or the reference has none.
std::optional<double> share_apart(const AgreementAmount& amount) {
  if (!amount.difference_bytes || !amount.bytes) return std::nullopt;
  const double reference = *amount.bytes - *amount.difference_bytes;
  if (reference <= 0) return std::nullopt;
  return std::abs(*amount.difference_bytes) / reference;
}

std::string change_of(const AgreementAmount& amount) {
  if (!amount.difference_bytes || !amount.bytes) return {};
  const double difference = *amount.difference_bytes;
  if (std::abs(difference) < 0.5) return "±0";
  const std::optional<double> share = share_apart(amount);
  return (difference < 0 ? "−" : "+") +
         (share ? percent(*share) : format_bytes(std::abs(difference)));
}

ShownAmount shown_amount(const AgreementAmount& amount) {
  ShownAmount shown;
  shown.amount = amount.bytes ? format_bytes(*amount.bytes) : kNoAmount;
  if (amount.bytes && amount.half_width_bytes)
    shown.amount += " ± " + format_bytes(*amount.half_width_bytes);
  shown.change = change_of(amount);
  return shown;
}

std::string stacks_text(const AgreementStacks& stacks) {
  std::string text = fmt::format("{} of {} {}", stacks.found, stacks.of, question_of(stacks.kind));
  if (stacks.found == 0) return text;
  if (stacks.same == stacks.found)
    return text + (stacks.found == 1 ? ", with the same bytes" : ", all with the same bytes");
  return text + fmt::format(", {} with the same bytes", stacks.same);
}

AgreementRow row_for(const TracerView& view) {
  AgreementRow row;
  row.tracer = view.tracer;
  row.tool = view.tool;
  row.counts = view.counts;
  if (!view.besides.empty()) row.counts += "; " + view.besides;
  for (const AgreementAmount& amount : view.amounts) row.amounts.push_back(shown_amount(amount));
  if (view.stacks) row.stacks = stacks_text(*view.stacks);
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
      row.amounts.emplace_back(cell == stack.cells.end() ? kNoAmount : cell_text(stack, *cell));
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
  std::vector<std::pair<std::string, const AgreementAmount*>> farthest;
  for (const TracerAgreement& agreement : results.agreement) {
    for (const TracerView& view : agreement.tracers) {
      for (const AgreementAmount& amount : view.amounts) {
        if (amount.kind == "live" || !share_apart(amount)) continue;
        const auto known =
            std::ranges::find(farthest, view.tracer, [](const auto& one) { return one.first; });
        if (known == farthest.end())
          farthest.emplace_back(view.tracer, &amount);
        else if (share_apart(amount) > share_apart(*known->second))
          known->second = &amount;
      }
    }
  }
  if (farthest.empty()) return {};
  std::vector<std::string> parts;
  for (const auto& [tracer, amount] : farthest) parts.push_back(tracer + " " + change_of(*amount));
  return fmt::format("Tracers side by side, farthest from {} in a peak or a total: {}.",
                     results.agreement.front().reference, fmt::join(parts, ", "));
}

}  // namespace memduel
