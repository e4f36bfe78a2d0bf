// Prints everything that memduel reads from a profile as JSON, for tests:
//   memduel-profile-json PROFILE
#include "support/profile_json.h"

#include <exception>
#include <iostream>

#include "readers/read_profile.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: memduel-profile-json PROFILE\n";
    return 2;
  }
  try {
    // Names come from other people's files: bytes that are not UTF-8 are replaced.
    std::cout << memduel::profile_json(memduel::read_profile(argv[1]))
                     .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)
              << "\n";
  } catch (const std::exception& error) {
    std::cerr << "memduel-profile-json: " << error.what() << "\n";
    return 4;
  }
  return 0;
}
