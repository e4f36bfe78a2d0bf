#include "workloads/optimizations/response.h"

#include "workloads/optimizations/choice.h"

namespace memduel {
namespace {

class PerClient final : public PreparedResponse {
 public:
  PerClient(State state, ResponseParts parts) : state_(std::move(state)), parts_(parts) {}
  [[nodiscard]] Outgoing outgoing(const Header& header, CallFrame& frame) const override {
    return parts_.serializer.prepare(state_, header, parts_.framing, frame);
  }

 private:
  State state_;
  ResponseParts parts_;
};

class Shared final : public PreparedResponse {
 public:
  Shared(const State& state, ResponseParts parts) : encoded_(encode_state(state)), parts_(parts) {}
  [[nodiscard]] Outgoing outgoing(const Header& header, CallFrame& frame) const override {
    return parts_.framing.wrap(header, encoded_, CopyLifetime::scoped, frame);
  }

 private:
  SharedBytes encoded_;
  ResponseParts parts_;
};

class Streamed final : public PreparedResponse {
 public:
  Streamed(State state, ResponseParts parts) : state_(std::move(state)), parts_(parts) {}
  [[nodiscard]] Outgoing outgoing(const Header& header, CallFrame& /*frame*/) const override {
    return parts_.framing.wrap_borrowed(header, borrow_state(state_));
  }

 private:
  State state_;
  ResponseParts parts_;
};

template <class Prepared>
class ResponderOf final : public Responder {
 public:
  explicit ResponderOf(ResponseParts parts) : parts_(parts) {}
  [[nodiscard]] std::shared_ptr<const PreparedResponse> prepare(State state) const override {
    return std::make_shared<Prepared>(std::move(state), parts_);
  }

 private:
  ResponseParts parts_;
};

using MakeResponder = std::unique_ptr<Responder> (*)(ResponseParts);

template <class Prepared>
std::unique_ptr<Responder> make(ResponseParts parts) {
  return std::make_unique<ResponderOf<Prepared>>(parts);
}

constexpr Choice<MakeResponder> kResponseChoices[] = {{"serialized_per_client", make<PerClient>},
                                                      {"shared_buffer", make<Shared>},
                                                      {"streamed_from_tensors", make<Streamed>}};

}  // namespace

std::unique_ptr<Responder> make_responder(const std::string& value, ResponseParts parts) {
  return choose("response", kResponseChoices, value)(parts);
}

}  // namespace memduel
