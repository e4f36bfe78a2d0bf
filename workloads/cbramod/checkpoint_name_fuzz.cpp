// What is read from a name as fine-tuning writes it must be read again from the name that is made
// of it. Lightning's metrics may have numbers between underscores, which the other way ends at.
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "checkpoint_name.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace memduel;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::optional<CheckpointName> name = parse_checkpoint_name(text);
  if (!name) return 0;
  if (!ends_as_checkpoint(text)) __builtin_trap();
  if (text.starts_with("epoch=")) return 0;
  const std::string made = make_checkpoint_name(*name);
  const std::optional<CheckpointName> again = parse_checkpoint_name(made);
  if (!again || again->epoch != name->epoch || again->metrics.size() != name->metrics.size())
    __builtin_trap();
  for (const auto& [metric, value] : name->metrics) {
    const auto read = again->metrics.find(metric);
    if (read == again->metrics.end()) __builtin_trap();
    const bool close = std::abs(read->second - value) <= 1e-5 || read->second == value;
    if (std::isfinite(value) && !close && std::abs(value) < 1e15) __builtin_trap();
  }
  return 0;
}
