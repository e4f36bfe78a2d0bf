#include "workloads/transport/bytes.h"

#include <gtest/gtest.h>

#include <string>

namespace memduel {
namespace {

TEST(Bytes, HoldsWhatWasAppended) {
  Bytes bytes;
  std::string expected;
  for (int i = 0; i < 1000; ++i) {
    const std::string part(static_cast<std::size_t>(i % 17), static_cast<char>('a' + i % 26));
    bytes.append(part);
    expected += part;
  }
  EXPECT_EQ(bytes.view(), expected);
}

TEST(Bytes, MovedFromIsEmpty) {
  Bytes bytes = Bytes::copy_of("abc");
  const Bytes moved = std::move(bytes);
  EXPECT_EQ(moved.view(), "abc");
  EXPECT_EQ(bytes.size(), 0U);  // NOLINT(bugprone-use-after-move)
}

}  // namespace
}  // namespace memduel
