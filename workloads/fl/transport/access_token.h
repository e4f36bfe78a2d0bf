// Keeps other users of the machine out of a run: its servers' sockets are open to them all.
#pragma once

#include <string>
#include <string_view>

namespace memduel {

/// What a client needs to call a server: where it is, and what shows that the client is of the run.
struct Access {
  std::string address;
  std::string token;
};

/// ADDRESS#TOKEN.
std::string to_text(const Access& access);

/// Throws Error(cannot_measure) for another text.
Access access_from(const std::string& text);

/// Takes equally long wherever the two differ.
bool is_same_token(std::string_view given, std::string_view expected);

}  // namespace memduel
