// DWARF call frame information of one code address, as the short rule that nearly all code has.
#pragma once

#include <cstdint>

#include "thread_state.h"

namespace memduel::recorder {

/// Where the caller's frame is, in terms of the callee's rsp and rbp (x86-64).
struct UnwindRule {
  enum Cfa : std::uint8_t {
    unsupported,
    rsp_plus,      ///< rsp + cfa_offset
    rbp_plus,      ///< rbp + cfa_offset
    rbp_indirect,  ///< *(rbp + cfa_offset): functions that realign their stack
    plt_entry,     ///< rsp + 8, and 8 more after the entry's push
    signal_frame,  ///< the interrupted registers lie at rsp
    outermost,     ///< no caller
  };
  enum Rbp : std::uint8_t {
    same,
    at_cfa_plus,  ///< saved at cfa + rbp_offset
    at_rbp_plus,  ///< saved at rbp + rbp_offset
  };
  Cfa cfa;
  Rbp rbp;
  std::int32_t cfa_offset;
  std::int32_t rbp_offset;

  bool operator==(const UnwindRule&) const = default;
};

/// The rule for `pc`. Reads the unwind tables of the loaded module; takes no lock.
UnwindRule find_unwind_rule(std::uintptr_t pc) MEMDUEL_HIDDEN;

}  // namespace memduel::recorder
