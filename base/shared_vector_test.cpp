#include "base/shared_vector.h"

#include <gtest/gtest.h>

namespace memduel {
namespace {

TEST(SharedVector, CopiesShareUntilOneIsChanged) {
  SharedVector<int> one = {1, 2, 3};
  SharedVector<int> other = one;
  EXPECT_EQ(&one.items(), &other.items());
  other.push_back(4);
  EXPECT_EQ(one.items(), (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(other.items(), (std::vector<int>{1, 2, 3, 4}));
  const int* place = other.items().data();
  other.edit()[0] = 9;
  EXPECT_EQ(other.items().data(), place) << "nobody else has it";
  EXPECT_EQ(one.front(), 1);
}

TEST(SharedVector, ReadsAsAVector) {
  const SharedVector<int> list = std::vector<int>{5, 6};
  EXPECT_EQ(list.size(), 2U);
  EXPECT_EQ(list.at(1), 6);
  EXPECT_EQ(list.back(), 6);
  int sum = 0;
  for (const int item : list) sum += item;
  EXPECT_EQ(sum, 11);
  EXPECT_TRUE(SharedVector<int>().empty());
  SharedVector<int> gone = list;
  gone.clear();
  EXPECT_TRUE(gone.empty());
  EXPECT_EQ(list.size(), 2U);
}

}  // namespace
}  // namespace memduel
