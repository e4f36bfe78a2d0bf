// Cells that several sections have.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reports/report_document.h"
#include "reports/report_model.h"

namespace memduel {

/// A number of bytes, its exact value beside it.
Cell bytes_cell(std::optional<double> bytes, const std::string& variant = {});

/// A difference of bytes with its sign: good where it is less.
Cell difference_cell(double bytes);

/// Names the flame graph of a role that has both variants, or `variant` where only one has any, at
/// one of the graph's views; leaves the stack as it is where the page has none.
void link_flame(const ReportModel& model, const std::string& role, const std::string& variant,
                const std::string& view, StackCell& stack);

/// "grow (store.cpp:14), called from main", of such words without the location; as they are where
/// it is empty or in them.
Text with_location(const std::string& words, const std::string& location);

/// A bar from 0 in a variant's colour, or by its tone.
Cell bar_cell(double from, double to, double low, double high, const std::string& variant,
              Tone tone);

/// A step of a waterfall.
struct Step {
  Text name;
  double size = 0;  ///< of a whole its value
  bool is_whole = false;
  std::string amount;
  std::string exact;
  std::optional<StackCell> stack = std::nullopt;
  std::string variant = {};  // NOLINT(readability-redundant-member-init): of a whole
};

/// From one whole to the other, each bar beginning where the one above ends.
Table waterfall(const std::vector<Step>& steps);

}  // namespace memduel
