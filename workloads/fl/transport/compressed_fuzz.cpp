// Any bytes as a compressed state: a small one that expands, or an Error.
#include <cstddef>
#include <cstdint>

#include "compressed_codec.h"
#include "util/error.h"

namespace {

void expand(std::string_view bytes) {
  using namespace memduel;
  try {
    const CompressedState state = decode_compressed(bytes, "fuzz");
    for (std::size_t i = 0; i < state.table.tensors.size(); ++i) {
      std::vector<char> data(state.table.tensors[i].bytes);
      expand_tensor(state.table.tensors[i], state.pieces[i], data.data(), "fuzz");
    }
  } catch (const Error&) {
  }
}

/// The same bytes as the pieces of a tensor that is there: past the checks of the table.
void expand_as_pieces(std::string_view bytes) {
  using namespace memduel;
  const StateTable table = layout_table({{"weight", Dtype::float32, {5000}}});
  expand(encode_compressed_head(table).append(bytes));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  expand(bytes);
  expand_as_pieces(bytes);
  return 0;
}
