#include "foreign_repository.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>

#include "util/file.h"

namespace memduel {

namespace fs = std::filesystem;

std::string output_of(const std::string& command) {
  FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) {
    ADD_FAILURE() << "cannot start: " << command;
    return {};
  }
  std::string text;
  std::array<char, 4096> buffer{};
  for (std::size_t size = 0; (size = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
    text.append(buffer.data(), size);
  EXPECT_EQ(::pclose(pipe), 0) << command;
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

ForeignRepository::ForeignRepository(const Workplace& place) : root_(place.path("repository")) {
  fs::copy(MEMDUEL_FOREIGN, root_, fs::copy_options::recursive);
  output_of("git init --quiet --initial-branch=main " + root_.string());
}

fs::path ForeignRepository::path(const std::string& file) const {
  return file.empty() ? root_ : root_ / file;
}

void ForeignRepository::set_buffer(int mebibytes) const {
  std::string text = read_file(path("store.cpp"));
  const std::string before = "std::size_t{";
  const std::size_t begin = text.find(before) + before.size();
  text.replace(begin, text.find('}', begin) - begin, std::to_string(mebibytes));
  write("store.cpp", text);
}

void ForeignRepository::write(const std::string& file, const std::string& text) const {
  fs::create_directories(path(file).parent_path());
  write_file_atomically(path(file), text);
}

std::string ForeignRepository::git(const std::string& arguments) const {
  return output_of("GIT_CONFIG_GLOBAL=/dev/null git -c user.name=t -c user.email=t@localhost -C " +
                   root_.string() + " " + arguments);
}

std::string ForeignRepository::commit(const std::string& message) const {
  static_cast<void>(git("add --all"));
  static_cast<void>(git("commit --quiet --message '" + message + "'"));
  return git("rev-parse HEAD");
}

std::string ForeignRepository::quick_build(const std::string& flags) {
  return "mkdir -p out && c++ " + flags + " -shared -fPIC -o out/libledger_store.so store.cpp && " +
         "c++ " + flags + " -o out/ledger main.cpp -Lout -lledger_store '-Wl,-rpath,$ORIGIN'";
}

}  // namespace memduel
