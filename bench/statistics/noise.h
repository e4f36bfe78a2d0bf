// The noise that memory shows from run to run, as generators of whole sessions.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "analysis/random.h"

namespace memduel::bench {

enum class Shape { normal, bimodal_arena, quantised, skewed, drifting };

constexpr std::array<Shape, 5> kShapes = {Shape::normal, Shape::bimodal_arena, Shape::quantised,
                                          Shape::skewed, Shape::drifting};

std::string shape_name(Shape shape);

/// Values in bytes; a[i] and b[i] ran in block i, in random order.
struct Session {
  std::vector<double> a;
  std::vector<double> b;
};

/// A session of `blocks` blocks in which b's true effect is a factor of 1 + change.
Session make_session(Shape shape, int blocks, double change, Random& random);

}  // namespace memduel::bench
