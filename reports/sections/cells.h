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

/// Of a function with its callers, innermost first. The file of a Python function is only in its
/// location, and the memory of a runtime has the name of the function that asked for it.
StackCell stack_cell(const std::string& function, const std::string& location,
                     std::vector<std::string> callers, std::vector<std::string> frames);

/// Names the flame graph of a role that has both variants, or `variant` where only one has any, at
/// one of the graph's views; leaves the stack as it is where the page has none.
void link_flame(const ReportModel& model, const std::string& role, const std::string& variant,
                const std::string& view, StackCell& stack);

/// "grow (store.cpp:14), called from main", of such words without the location; as they are where
/// it is empty or in them.
Text with_location(const std::string& words, const std::string& location);

/// In a table with a size of 1 MiB or more, writes smaller ones in MiB too ("0.695 MiB"), so that
/// they can be compared by eye. Less than a hundredth of a MiB keeps its own unit.
void use_mebibytes(Table& table);

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
