// The heap over time, in a bounded number of moments however long the run was.
#pragma once

#include <vector>

#include "profilers/profile/model/profile.h"

namespace memduel {

class Timeline {
 public:
  /// Of neighbours that fall together the one with more bytes stays, so that no peak is lost.
  void add(const ProfileMoment& moment);
  [[nodiscard]] const std::vector<ProfileMoment>& moments() const { return moments_; }

 private:
  std::vector<ProfileMoment> moments_;
  std::size_t stride_ = 1;    ///< how many moments each one stands for
  std::size_t gathered_ = 0;  ///< by the last one
};

}  // namespace memduel
