// Several tracers on one process of one arm, side by side: computed in profilers/profile, kept in
// results.json, shown by reports/.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace memduel {

/// One tracer's answer to one question.
struct AgreementAmount {
  std::string kind;                        ///< peak, allocated or live
  std::optional<double> bytes;             ///< mean of its trials; absent: it does not know
  std::optional<double> half_width_bytes;  ///< of the 95 % interval where it samples
  std::optional<double> difference_bytes;  ///< minus the reference's
};

/// The reference's ten largest stacks, as this tracer has them.
struct AgreementStacks {
  std::string kind;  ///< peak, else the first of allocated and live that both know
  int of = 0;        ///< at most ten
  int found = 0;     ///< by their functions
  int same = 0;      ///< of these, with the same bytes within 1 % or the sampling interval
};

/// One tracer of an arm and role.
struct TracerView {
  std::string tracer;  ///< as in the config
  std::string tool;    ///< with its version where the profile tells: "heaptrack 1.4.0"
  std::string counts;  ///< "requested bytes of every block"
  /// What else makes its amounts differ from other tools', parted by "; "; for people.
  std::string besides;
  int trials = 0;
  int images = 0;                            ///< processes of a trial that it saw, at most
  std::optional<double> interval_bytes;      ///< absent: it records every block
  std::optional<double> mapping_peak_bytes;  ///< of the program's own mappings, counted apart
  std::vector<AgreementAmount> amounts;      ///< peak, allocated, live
  std::optional<AgreementStacks> stacks;     ///< absent for the reference
};

/// What one tracer has at a stack of the reference.
struct AgreementCell {
  std::string tracer;
  double bytes = 0;
  /// The reference's bytes in all its stacks that this tracer cannot tell from this one.
  double reference_bytes = 0;
};

struct AgreementStack {
  std::string kind;
  std::vector<std::string> stack;    ///< functions, outermost first
  double bytes = 0;                  ///< of the reference
  std::vector<AgreementCell> cells;  ///< of the tracers that have it
};

/// One role of one arm under at least two tracers.
struct TracerAgreement {
  std::string arm;
  std::string role;
  std::string reference;               ///< the tracer that the others are held to
  std::vector<TracerView> tracers;     ///< the reference first
  std::vector<AgreementStack> stacks;  ///< by kind, the reference's ten largest
};

}  // namespace memduel
