#include "workloads/federated/finite.h"

#include <fmt/format.h>

#include <cstdint>
#include <cstring>

#include "base/error.h"

namespace memduel {
namespace {

/// An exponent of all ones marks infinities and NaNs. Integer arithmetic, so that the loop
/// vectorises without allowing the compiler to reorder sums.
template <class Bits, Bits exponent>
bool no_full_exponent(const char* data, std::size_t count) {
  Bits found = 0;
  for (std::size_t i = 0; i < count; ++i) {
    Bits bits;
    std::memcpy(&bits, data + i * sizeof bits, sizeof bits);
    found |= static_cast<Bits>((bits & exponent) == exponent);
  }
  return found == 0;
}

}  // namespace

bool all_finite(const char* data, std::size_t count, at::ScalarType type) {
  if (type == at::kFloat) return no_full_exponent<std::uint32_t, 0x7f800000U>(data, count);
  if (type == at::kDouble) return no_full_exponent<std::uint64_t, 0x7ff0000000000000U>(data, count);
  return true;
}

void complain_not_finite(const std::string& tensor, const std::string& client) {
  throw Error(ExitCode::cannot_measure, fmt::format("tensor {} holds a NaN or an infinity", tensor),
              client, "a smaller learning rate often helps");
}

void expect_finite(const State& state, const std::string& client) {
  for (const auto& [name, tensor] : state)
    if (!all_finite(bytes_of(on_cpu(tensor)).data(), static_cast<std::size_t>(tensor.numel()),
                    tensor.scalar_type()))
      complain_not_finite(name, client);
}

}  // namespace memduel
