#include "workloads/optimizations/deserialize.h"

#include <fmt/format.h>

#include <cstring>

#include "workloads/optimizations/choice.h"

namespace memduel {
namespace {

std::string first_cut_off(const StateTable& table, std::size_t size) {
  for (const TensorRecord& record : table.tensors)
    if (record.offset + record.bytes > size) return "; the first that is cut off is " + record.name;
  return {};
}

StateTable read_table(std::string_view bytes, const std::string& from) {
  StateTable table = decode_table(bytes, from);
  if (table.total_bytes != bytes.size())
    throw Error(ExitCode::cannot_measure,
                fmt::format("malformed model state: found {} bytes, expected {}{}", bytes.size(),
                            table.total_bytes, first_cut_off(table, bytes.size())),
                from);
  return table;
}

State copy_out(std::string_view bytes, const std::string& from, const at::Device& device) {
  const StateTable table = read_table(bytes, from);
  State state = allocate_state(table, device);
  for (std::size_t i = 0; i < state.size(); ++i) {
    const TensorRecord& record = table.tensors[i];
    fill_tensor(state[i].tensor,
                [&](char* to) { std::memcpy(to, bytes.data() + record.offset, record.bytes); });
  }
  return state;
}

class SourceDevice final : public Deserializer {
 public:
  explicit SourceDevice(const at::Device& device) : device_(device) {}

  [[nodiscard]] State load(SharedBytes bytes, const std::string& from) const override {
    return copy_out(bytes->view(), from, device_);
  }

 private:
  at::Device device_;
};

/// The caller's last reference goes before the state is handed on.
class CpuFirst final : public Deserializer {
 public:
  [[nodiscard]] State load(SharedBytes bytes, const std::string& from) const override {
    State state = copy_out(bytes->view(), from, at::kCPU);
    bytes.reset();
    return state;
  }
};

class InPlaceViews final : public Deserializer {
 public:
  [[nodiscard]] State load(SharedBytes bytes, const std::string& from) const override {
    const StateTable table = read_table(bytes->view(), from);
    State state;
    state.reserve(table.tensors.size());
    for (const TensorRecord& record : table.tensors)
      state.push_back({record.name, torch::from_blob(
                                        bytes->data() + record.offset, record.shape,
                                        [bytes](void*) {}, torch_dtype(record.dtype))});
    return state;
  }
};

using MakeDeserializer = std::unique_ptr<Deserializer> (*)(const at::Device&);
constexpr Choice<MakeDeserializer> kDeserializeChoices[] = {
    {"source_device",
     [](const at::Device& device) {
       return std::unique_ptr<Deserializer>(std::make_unique<SourceDevice>(device));
     }},
    {"cpu_first",
     [](const at::Device&) { return std::unique_ptr<Deserializer>(std::make_unique<CpuFirst>()); }},
    {"in_place_views", [](const at::Device&) {
       return std::unique_ptr<Deserializer>(std::make_unique<InPlaceViews>());
     }}};

}  // namespace

std::unique_ptr<Deserializer> make_deserializer(const std::string& value,
                                                const at::Device& device) {
  return choose("deserialize", kDeserializeChoices, value)(device);
}

}  // namespace memduel
