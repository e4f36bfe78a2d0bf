#include "training/budget_text.h"

#include <fmt/format.h>

#include "base/text.h"

namespace memduel {
namespace {

constexpr std::size_t kNameColumn = 24;
constexpr std::size_t kValueColumn = 12;

std::string padded(const std::string& text, std::size_t width) {
  return text + std::string(text.size() < width ? width - text.size() : 1, ' ');
}

std::string row(const std::string& name, double bytes, const std::string& remark = {}) {
  const std::string value = format_bytes(bytes);
  return padded(name, kNameColumn) +
         (remark.empty() ? value : padded(value, kValueColumn) + remark) + "\n";
}

std::string batch_row(const std::string& name, std::int64_t batch, const MemoryBudget& budget) {
  const double bytes = estimated_bytes(budget, batch);
  return padded(name, kNameColumn) + padded(fmt::format("{}", batch), kValueColumn) +
         fmt::format("which takes {}{}\n", format_bytes(bytes),
                     bytes > budget.usable_bytes ? ": more than may be used" : "");
}

}  // namespace

std::string describe_budget(const BudgetInput& input, const MemoryBudget& budget) {
  std::string text;
  text += row("device", budget.device_bytes);
  text += row("may be used", budget.usable_bytes,
              fmt::format("{:.0f} % of it, less {:.0f} % for fragmentation",
                          input.target_utilization * 100, input.fragmentation * 100));
  text += row("  context", budget.context_bytes);
  text += row("  parameters", budget.model_bytes, "without embeddings");
  text += row("  embeddings", budget.embedding_bytes);
  text += row("  optimizer", budget.optimizer_bytes);
  text += row("  gradients", budget.gradient_bytes);
  text += row("  teacher", budget.teacher_bytes);
  text += row("static", budget.static_bytes, "the sum of these six");
  text += row("available for data", budget.available_bytes);
  text += row("one sample", budget.sample_bytes);
  text += row("its activations", budget.activation_bytes);
  text += batch_row("batch", budget.batch, budget);
  text += batch_row("batch as KD-GAT's code", budget.batch_as_coded, budget);
  for (const std::string& warning : budget.warnings) text += "warning: " + warning + "\n";
  return text;
}

std::string describe_parallel_clients(const std::vector<ParallelClients>& rows) {
  std::string text = "clients at once         device      published  as coded  estimated\n";
  for (const ParallelClients& one : rows)
    text += padded(one.model, kNameColumn) + padded(format_bytes(one.device_bytes), kValueColumn) +
            padded(fmt::format("{}", one.published), 11) +
            padded(fmt::format("{}", one.as_coded), 10) + fmt::format("{}\n", one.estimated);
  return text;
}

}  // namespace memduel
