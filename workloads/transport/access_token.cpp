#include "workloads/transport/access_token.h"

#include <fmt/format.h>

#include "base/error.h"

namespace memduel {

std::string to_text(const Access& access) {
  return access.address + "#" + access.token;
}

Access access_from(const std::string& text) {
  const std::size_t mark = text.rfind('#');
  if (mark == std::string::npos)
    throw Error(ExitCode::cannot_measure,
                fmt::format("found \"{}\", expected ADDRESS#TOKEN of a server", text));
  return {text.substr(0, mark), text.substr(mark + 1)};
}

bool is_same_token(std::string_view given, std::string_view expected) {
  unsigned char differs = given.size() != expected.size() ? 1 : 0;
  for (std::size_t i = 0; i < expected.size(); ++i)
    differs |= static_cast<unsigned char>(i < given.size() ? given[i] ^ expected[i] : 1);
  return differs == 0;
}

}  // namespace memduel
