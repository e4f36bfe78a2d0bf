#include "model_chunking.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "util/error.h"

namespace memduel {
namespace {

/// The largest element that states hold: a smaller chunk could not take one.
constexpr std::int64_t kLeastChunk = 8;

}  // namespace

std::optional<std::size_t> choose_chunk_bytes(const nlohmann::json& value) {
  if (value == "off") return std::nullopt;
  if (!value.is_number_integer() || value.get<std::int64_t>() < kLeastChunk)
    throw Error(
        ExitCode::usage,
        fmt::format("expected \"off\" or a number of bytes from {}, the size of one element, "
                    "found {}",
                    kLeastChunk, value.dump()),
        "switches.model_chunking");
  return value.get<std::size_t>();
}

std::vector<State> split_state(const State& state, std::optional<std::size_t> chunk_bytes) {
  if (!chunk_bytes || state_bytes(state) <= *chunk_bytes) return {state};
  State sorted = state;
  std::ranges::sort(sorted, {}, &NamedTensor::name);
  std::vector<State> chunks(1);
  std::size_t filled = 0;
  for (NamedTensor& entry : sorted) {
    const std::size_t bytes = entry.tensor.nbytes();
    if (!chunks.back().empty() && filled + bytes > *chunk_bytes) {
      chunks.emplace_back();
      filled = 0;
    }
    filled += bytes;
    chunks.back().push_back(std::move(entry));
  }
  return chunks;
}

State select_entries(const State& state, const State& part) {
  State selected;
  selected.reserve(part.size());
  for (const NamedTensor& entry : part)
    selected.push_back({entry.name, find_tensor(state, entry.name)});
  return selected;
}

}  // namespace memduel
