#include "workloads/transport/call.h"

namespace memduel {

std::string_view method_name(Method method) {
  switch (method) {
    case Method::get_configuration:
      return "GetConfiguration";
    case Method::get_global_model:
      return "GetGlobalModel";
    case Method::update_global_model:
      return "UpdateGlobalModel";
    case Method::invoke_custom_action:
      return "InvokeCustomAction";
  }
  return "";
}

std::size_t Message::size() const {
  std::size_t total = 0;
  for (const std::string_view segment : segments) total += segment.size();
  return total;
}

}  // namespace memduel
