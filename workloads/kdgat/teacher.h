// A trained network whose answers another learns from.
#pragma once

#include <optional>
#include <span>

#include "graph_networks.h"

namespace memduel {

/// teacher: where it is, and when it answers.
enum class TeacherPlace {
  resident,        ///< on the device; after the student's forward pass
  offloaded,       ///< in main memory; brought in for each answer, after the student's forward pass
  before_student,  ///< likewise, and gone again before the student's forward pass begins
  cached_outputs,  ///< it answers for all graphs once, and is gone
};

class Teacher {
 public:
  /// The network is on the device. It goes to where `place` has it, but for cached_outputs, where
  /// remember() is yet to come.
  Teacher(Gat network, TeacherPlace place, const at::Device& device);

  [[nodiscard]] bool answers_first() const {
    return place_ == TeacherPlace::before_student || place_ == TeacherPlace::cached_outputs;
  }

  /// cached_outputs: answers for these graphs of the store now, so many at once, and is gone.
  /// Otherwise without effect.
  void remember(const GraphStore& store, std::span<const std::size_t> graphs, std::size_t at_once);

  /// Scores of the classes [graphs, classes], without a graph of operations. @param indices of the
  /// batch's graphs in the store.
  torch::Tensor answer(const GraphBatch& batch, std::span<const std::size_t> indices);

  /// Of its parameters where the student computes.
  [[nodiscard]] std::int64_t bytes_on_device() const;

 private:
  [[nodiscard]] bool comes_and_goes() const {
    return place_ == TeacherPlace::offloaded || place_ == TeacherPlace::before_student;
  }
  torch::Tensor ask(const GraphBatch& batch);

  Gat network_;
  TeacherPlace place_;
  at::Device device_;
  torch::Tensor remembered_;  ///< [graphs of the store, classes], in main memory
};

/// What a student is trained to lower: 0.7 times the divergence of its softened scores from the
/// teacher's (at temperature 4, times 16), and 0.3 times the cross entropy of the labels.
torch::Tensor distillation_loss(const torch::Tensor& scores, const torch::Tensor& teachers_scores,
                                const torch::Tensor& labels);

/// The same for a batch, the teacher asked before the student or after it. @param indices of the
/// batch's graphs in the store.
torch::Tensor distilled_loss(Gat& student, Teacher& teacher, const GraphBatch& batch,
                             std::span<const std::size_t> indices);

}  // namespace memduel
