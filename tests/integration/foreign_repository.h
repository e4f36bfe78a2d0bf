// tests/programs/foreign as a git repository of its own: a project that knows nothing of memduel.
#pragma once

#include <string>

#include "support/memduel_program.h"

namespace memduel {

/// In PLACE/repository. Its program allocates one buffer of 8 MiB, in
/// ledger::Store::reserve_buffer() of its own shared library.
class ForeignRepository {
 public:
  explicit ForeignRepository(const Workplace& place);

  [[nodiscard]] std::filesystem::path path(const std::string& file = "") const;
  /// Another size of the buffer, in MiB.
  void set_buffer(int mebibytes) const;
  void write(const std::string& file, const std::string& text) const;
  /// Everything as it is; the commit's full name.
  [[nodiscard]] std::string commit(const std::string& message) const;
  /// What git prints, without the line's end.
  [[nodiscard]] std::string git(const std::string& arguments) const;

  /// Without CMake: a shell command that builds the library and the program with `flags`.
  static std::string quick_build(const std::string& flags = "-O1 -g");

 private:
  std::filesystem::path root_;
};

/// What a shell command prints. The test fails when the command does.
std::string output_of(const std::string& command);

}  // namespace memduel
