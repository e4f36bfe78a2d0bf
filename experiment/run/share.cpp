#include "experiment/run/share.h"

#include <fmt/format.h>

#include <charconv>
#include <string_view>

#include "base/error.h"
#include "base/text.h"

namespace memduel {
namespace {

constexpr int kMostShares = 100'000;

/// 0 for anything but a number from 1 on.
int count_in(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && value >= 1 && value <= kMostShares ? value : 0;
}

}  // namespace

Share share_from(const std::string& text, const std::string& place) {
  const std::size_t slash = text.find('/');
  if (slash != std::string::npos) {
    const Share share{count_in(std::string_view(text).substr(0, slash)),
                      count_in(std::string_view(text).substr(slash + 1))};
    if (share.number > 0 && share.number <= share.of) return share;
  }
  throw Error(ExitCode::usage,
              fmt::format("found \"{}\", expected a share such as 2/4: the second of four", text),
              place);
}

std::string to_text(const Share& share) {
  return fmt::format("{}/{}", share.number, share.of);
}

SuperblockRange superblocks_of(const Share& share, int blocks) {
  if (blocks % 2 != 0)
    throw Error(ExitCode::usage,
                fmt::format("found {}, expected an even number: a share has whole superblocks, "
                            "which are two blocks",
                            format_count(blocks, "block")),
                "--repeats");
  const int superblocks = blocks / 2;
  if (share.of > superblocks)
    throw Error(ExitCode::usage,
                fmt::format("found {} shares of {} blocks, expected at most {}", share.of, blocks,
                            superblocks),
                "--blocks", "give a larger --repeats, or fewer shares");
  const auto begin = [&](int number) {
    return static_cast<int>(static_cast<std::int64_t>(number) * superblocks / share.of);
  };
  return {begin(share.number - 1), begin(share.number)};
}

}  // namespace memduel
