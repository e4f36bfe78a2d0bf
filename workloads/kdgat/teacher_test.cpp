#include "teacher.h"

#include <gtest/gtest.h>

#include <cmath>

#include "support/stand_in_device.h"
#include "test_sample_graphs.h"

namespace memduel {
namespace {

constexpr GatShape kTaught{24, 2, 4, 8, 3};
// graph_models_test.cpp: 90,018 parameters with 500 identifiers; here are 35.
constexpr std::int64_t kTaughtBytes = (90'018 - 465 * 8) * 4;

class TeacherTest : public ::testing::Test {
 protected:
  TeacherTest() { install_stand_in_device(); }

  Teacher teacher(TeacherPlace place) {
    torch::manual_seed(2);
    Gat network(kTaught, 35);
    network->to(device_);
    return {network, place, device_};
  }

  torch::Tensor answer(Teacher& teacher) {
    teacher.remember(*store_, first_graphs(64), 50);
    const std::vector<std::size_t> asked = {40, 3, 17};
    return teacher.answer(make_batch(*store_, asked).on(device_), asked).to(torch::kCPU);
  }

  const at::Device device_{kStandInDevice};
  const SampleGraphs file_{64};
  const std::unique_ptr<GraphStore> store_ = file_.open();
};

TEST_F(TeacherTest, AnswersTheSameWhereverItIs) {
  Teacher resident = teacher(TeacherPlace::resident);
  Teacher offloaded = teacher(TeacherPlace::offloaded);
  Teacher before = teacher(TeacherPlace::before_student);
  Teacher cached = teacher(TeacherPlace::cached_outputs);
  const torch::Tensor expected = answer(resident);
  EXPECT_EQ(expected.sizes(), (std::vector<std::int64_t>{3, 2}));
  EXPECT_TRUE(torch::equal(expected, answer(offloaded)));
  EXPECT_TRUE(torch::equal(expected, answer(before)));
  EXPECT_TRUE(torch::allclose(expected, answer(cached), 1e-5, 1e-6));
  EXPECT_FALSE(torch::allclose(expected[0], expected[1], 1e-5, 1e-6));
  EXPECT_FALSE(resident.answers_first());
  EXPECT_FALSE(offloaded.answers_first());
  EXPECT_TRUE(before.answers_first());
  EXPECT_TRUE(cached.answers_first());
}

TEST_F(TeacherTest, FreesItsBytesOnTheDeviceUnlessItIsResident) {
  struct Expected {
    TeacherPlace place;
    std::int64_t bytes;
  };
  for (const auto& [place, bytes] :
       {Expected{TeacherPlace::resident, kTaughtBytes}, Expected{TeacherPlace::offloaded, 0},
        Expected{TeacherPlace::before_student, 0}, Expected{TeacherPlace::cached_outputs, 0}}) {
    const std::int64_t before = stand_in_bytes().live;
    Teacher one = teacher(place);
    answer(one);
    EXPECT_EQ(one.bytes_on_device(), bytes);
    // An allocation is a multiple of 64 bytes there.
    EXPECT_NEAR(static_cast<double>(stand_in_bytes().live - before), static_cast<double>(bytes),
                20 * 64);
  }
}

// Softened, the teacher says (3/4, 1/4) and the student (1/2, 1/2).
TEST(DistillationLoss, IsTheDivergenceAtTemperatureFourAndTheLabels) {
  const torch::Tensor student = torch::zeros({1, 2});
  const torch::Tensor teacher = torch::tensor({{4 * std::log(3.0), 0.0}}, torch::kFloat);
  const double divergence = 0.75 * std::log(1.5) + 0.25 * std::log(0.5);
  EXPECT_NEAR(distillation_loss(student, teacher, torch::zeros({1}, torch::kLong)).item<double>(),
              0.7 * 16 * divergence + 0.3 * std::log(2), 1e-5);
}

}  // namespace
}  // namespace memduel
