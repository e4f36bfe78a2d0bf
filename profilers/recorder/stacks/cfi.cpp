#include "cfi.h"

#include <dlfcn.h>

#include <cstring>

#include "loaded_objects.h"

namespace memduel::recorder {

namespace {

using Bytes = const std::uint8_t*;

constexpr int kRbp = 6;
constexpr int kRsp = 7;
constexpr int kReturnAddress = 16;

template <class Value>
Value read(Bytes& at) {
  Value value;
  memcpy(&value, at, sizeof value);
  at += sizeof value;
  return value;
}

std::uint64_t read_uleb(Bytes& at) {
  std::uint64_t value = 0;
  for (unsigned shift = 0;; shift += 7) {
    const std::uint8_t byte = *at++;
    if (shift < 64) value |= std::uint64_t{byte & 0x7fU} << shift;
    if ((byte & 0x80) == 0) return value;
  }
}

std::int64_t read_sleb(Bytes& at) {
  std::uint64_t value = 0;
  unsigned shift = 0;
  std::uint8_t byte = 0;
  do {
    byte = *at++;
    if (shift < 64) value |= std::uint64_t{byte & 0x7fU} << shift;
    shift += 7;
  } while ((byte & 0x80) != 0);
  if (shift < 64 && (byte & 0x40) != 0) value |= ~std::uint64_t{0} << shift;
  return static_cast<std::int64_t>(value);
}

// DW_EH_PE encodings: the low four bits say the format, the next three what it is relative to.
bool read_encoded(Bytes& at, std::uint8_t encoding, std::uintptr_t data_base,
                  std::uintptr_t& value) {
  const auto place = reinterpret_cast<std::uintptr_t>(at);
  switch (encoding & 0x0f) {
    case 0x00:
    case 0x04:
    case 0x0c:
      value = read<std::uint64_t>(at);
      break;
    case 0x01:
      value = read_uleb(at);
      break;
    case 0x02:
      value = read<std::uint16_t>(at);
      break;
    case 0x03:
      value = read<std::uint32_t>(at);
      break;
    case 0x09:
      value = static_cast<std::uintptr_t>(read_sleb(at));
      break;
    case 0x0a:
      value = static_cast<std::uintptr_t>(std::intptr_t{read<std::int16_t>(at)});
      break;
    case 0x0b:
      value = static_cast<std::uintptr_t>(std::intptr_t{read<std::int32_t>(at)});
      break;
    default:
      return false;
  }
  if ((encoding & 0x70) == 0x10) value += place;
  if ((encoding & 0x70) == 0x30) value += data_base;
  return (encoding & 0x70) == 0 || (encoding & 0x70) == 0x10 || (encoding & 0x70) == 0x30;
}

// The header's table holds (first address, entry) pairs, sorted, as 32-bit offsets from itself.
Bytes find_fde(Bytes header, std::uintptr_t pc) {
  constexpr std::uint8_t kSortedOffsets = 0x3b;
  if (header[0] != 1 || header[3] != kSortedOffsets) return nullptr;
  const auto base = reinterpret_cast<std::uintptr_t>(header);
  Bytes at = header + 4;
  std::uintptr_t ignored = 0;
  std::uintptr_t count = 0;
  if (!read_encoded(at, header[1], base, ignored)) return nullptr;
  if (!read_encoded(at, header[2], base, count) || count == 0) return nullptr;
  struct Entry {
    std::int32_t first;
    std::int32_t fde;
  };
  const auto entry = [at](std::size_t index) {
    Entry found;
    memcpy(&found, at + index * sizeof found, sizeof found);
    return found;
  };
  const auto wanted = static_cast<std::intptr_t>(pc - base);
  if (wanted < entry(0).first) return nullptr;
  std::size_t low = 0;
  std::size_t high = count;
  while (high - low > 1) {
    const std::size_t middle = (low + high) / 2;
    if (entry(middle).first <= wanted) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return header + entry(low).fde;
}

struct Cie {
  Bytes instructions = nullptr;
  Bytes end = nullptr;
  std::uint64_t code_factor = 1;
  std::int64_t data_factor = 1;
  std::uint8_t pointer_encoding = 0;
  bool augmented = false;
  bool signal_frame = false;
};

bool parse_cie(Bytes at, Cie& cie) {
  const auto length = read<std::uint32_t>(at);
  if (length == 0 || length == 0xffffffff) return false;
  cie.end = at + length;
  if (read<std::uint32_t>(at) != 0) return false;
  const std::uint8_t version = *at++;
  if (version != 1 && version != 3) return false;
  const char* augmentation = reinterpret_cast<const char*>(at);
  at += strlen(augmentation) + 1;
  cie.code_factor = read_uleb(at);
  cie.data_factor = read_sleb(at);
  const std::uint64_t return_register = version == 1 ? *at++ : read_uleb(at);
  if (return_register != kReturnAddress) return false;
  if (augmentation[0] == 'z') {
    cie.augmented = true;
    const std::uint64_t size = read_uleb(at);
    Bytes data = at;
    at += size;
    for (const char* letter = augmentation + 1; *letter != '\0'; ++letter) {
      std::uintptr_t ignored = 0;
      if (*letter == 'R') {
        cie.pointer_encoding = *data++;
      } else if (*letter == 'P') {
        const std::uint8_t encoding = *data++;
        if (!read_encoded(data, encoding & 0x7f, 0, ignored)) return false;
      } else if (*letter == 'L') {
        ++data;
      } else if (*letter == 'S') {
        cie.signal_frame = true;
      } else {
        return false;
      }
    }
  } else if (augmentation[0] != '\0') {
    return false;
  }
  cie.instructions = at;
  return true;
}

struct Row {
  UnwindRule rule{};
  bool return_at_cfa = true;  ///< return address at cfa - 8
  bool return_undefined = false;
};

// Only the shapes that compilers and the linker make; anything else is unsupported.
void set_cfa_expression(Row& row, Bytes at, std::uint64_t size) {
  constexpr std::uint8_t kBregRbp = 0x76;
  constexpr std::uint8_t kDeref = 0x06;
  static constexpr std::uint8_t kPlt[] = {0x77, 0x08, 0x80, 0x00, 0x3f, 0x1a,
                                          0x3b, 0x2a, 0x33, 0x24, 0x22};
  row.rule.cfa = UnwindRule::unsupported;
  if (size == sizeof kPlt && memcmp(at, kPlt, sizeof kPlt) == 0) {
    row.rule.cfa = UnwindRule::plt_entry;
  } else if (size >= 3 && at[0] == kBregRbp && at[size - 1] == kDeref) {
    Bytes operand = at + 1;
    row.rule.cfa_offset = static_cast<std::int32_t>(read_sleb(operand));
    if (operand == at + size - 1) row.rule.cfa = UnwindRule::rbp_indirect;
  }
}

void set_register_expression(Row& row, std::uint64_t reg, Bytes at, std::uint64_t size) {
  if (reg != kRbp) return;
  row.rule.cfa = UnwindRule::unsupported;
  if (size < 2 || at[0] != 0x76) return;
  Bytes operand = at + 1;
  const auto offset = static_cast<std::int32_t>(read_sleb(operand));
  if (operand != at + size) return;
  row.rule.rbp = UnwindRule::at_rbp_plus;
  row.rule.rbp_offset = offset;
}

class Program {
 public:
  Program(const Cie& cie, std::uintptr_t start, std::uintptr_t pc)
      : cie_(cie), location_(start), pc_(pc) {}

  /// Runs the instructions up to the row of pc. False: something unknown came up.
  bool run(Bytes at, Bytes end) {
    while (at < end && location_ <= pc_) {
      if (!step(at)) return false;
    }
    return true;
  }
  void keep_initial() { initial_ = row; }

  Row row;

 private:
  bool step(Bytes& at) {
    const std::uint8_t byte = *at++;
    const std::uint8_t low = byte & 0x3f;
    switch (byte >> 6) {
      case 1:
        return advance(low);
      case 2:
        return saved(low, static_cast<std::int64_t>(read_uleb(at)) * cie_.data_factor);
      case 3:
        return restore(low);
      default:
        return extended(byte, at);
    }
  }

  bool advance(std::uint64_t delta) {
    location_ += delta * cie_.code_factor;
    return true;
  }

  bool saved(std::uint64_t reg, std::int64_t offset) {
    if (reg == kRbp) {
      row.rule.rbp = UnwindRule::at_cfa_plus;
      row.rule.rbp_offset = static_cast<std::int32_t>(offset);
    }
    if (reg == kReturnAddress) {
      row.return_at_cfa = offset == -8;
      row.return_undefined = false;
    }
    return true;
  }

  bool restore(std::uint64_t reg) {
    if (reg == kRbp) {
      row.rule.rbp = initial_.rule.rbp;
      row.rule.rbp_offset = initial_.rule.rbp_offset;
    }
    if (reg == kReturnAddress) row.return_at_cfa = initial_.return_at_cfa;
    return true;
  }

  bool define_cfa(std::uint64_t reg, std::int64_t offset) {
    row.rule.cfa = reg == kRsp   ? UnwindRule::rsp_plus
                   : reg == kRbp ? UnwindRule::rbp_plus
                                 : UnwindRule::unsupported;
    row.rule.cfa_offset = static_cast<std::int32_t>(offset);
    return true;
  }

  bool extended(std::uint8_t code, Bytes& at) {
    switch (code) {
      case 0x00:
        return true;  // nop
      case 0x01: {    // set_loc
        std::uintptr_t to = 0;
        if (!read_encoded(at, cie_.pointer_encoding, 0, to)) return false;
        location_ = to;
        return true;
      }
      case 0x02:
        return advance(*at++);  // advance_loc1
      case 0x03:
        return advance(read<std::uint16_t>(at));  // advance_loc2
      case 0x04:
        return advance(read<std::uint32_t>(at));  // advance_loc4
      case 0x05: {                                // offset_extended
        const std::uint64_t reg = read_uleb(at);
        return saved(reg, static_cast<std::int64_t>(read_uleb(at)) * cie_.data_factor);
      }
      case 0x06:
        return restore(read_uleb(at));  // restore_extended
      case 0x07: {                      // undefined
        if (read_uleb(at) == kReturnAddress) row.return_undefined = true;
        return true;
      }
      case 0x08: {  // same_value
        if (read_uleb(at) == kRbp) row.rule.rbp = UnwindRule::same;
        return true;
      }
      case 0x09: {  // register
        const std::uint64_t reg = read_uleb(at);
        read_uleb(at);
        return reg != kRbp && reg != kReturnAddress;
      }
      case 0x0a:  // remember_state
        if (depth_ == kMostRemembered) return false;
        remembered_[depth_++] = row;
        return true;
      case 0x0b:  // restore_state
        if (depth_ == 0) return false;
        row = remembered_[--depth_];
        return true;
      case 0x0c: {  // def_cfa
        const std::uint64_t reg = read_uleb(at);
        return define_cfa(reg, static_cast<std::int64_t>(read_uleb(at)));
      }
      case 0x0d:
        return define_cfa(read_uleb(at), row.rule.cfa_offset);  // def_cfa_register
      case 0x0e:                                                // def_cfa_offset
        row.rule.cfa_offset = static_cast<std::int32_t>(read_uleb(at));
        return true;
      case 0x0f: {  // def_cfa_expression
        const std::uint64_t size = read_uleb(at);
        set_cfa_expression(row, at, size);
        at += size;
        return true;
      }
      case 0x10:    // expression
      case 0x16: {  // val_expression
        const std::uint64_t reg = read_uleb(at);
        const std::uint64_t size = read_uleb(at);
        if (code == 0x16 && reg == kRbp) return false;
        set_register_expression(row, reg, at, size);
        at += size;
        return true;
      }
      case 0x11: {  // offset_extended_sf
        const std::uint64_t reg = read_uleb(at);
        return saved(reg, read_sleb(at) * cie_.data_factor);
      }
      case 0x12: {  // def_cfa_sf
        const std::uint64_t reg = read_uleb(at);
        return define_cfa(reg, read_sleb(at) * cie_.data_factor);
      }
      case 0x13:  // def_cfa_offset_sf
        row.rule.cfa_offset = static_cast<std::int32_t>(read_sleb(at) * cie_.data_factor);
        return true;
      case 0x2e:  // GNU_args_size
        read_uleb(at);
        return true;
      default:
        return false;
    }
  }

  static constexpr int kMostRemembered = 8;
  const Cie& cie_;
  std::uintptr_t location_;
  std::uintptr_t pc_;
  Row initial_;
  Row remembered_[kMostRemembered];
  int depth_ = 0;
};

UnwindRule read_rule(Bytes header, std::uintptr_t pc) {
  UnwindRule none{};
  Bytes at = find_fde(header, pc);
  if (at == nullptr) return none;
  const auto length = read<std::uint32_t>(at);
  if (length == 0 || length == 0xffffffff) return none;
  Bytes end = at + length;
  Bytes cie_place = at;
  const auto cie_offset = read<std::uint32_t>(at);
  if (cie_offset == 0) return none;
  Cie cie;
  if (!parse_cie(cie_place - cie_offset, cie)) return none;
  if (cie.signal_frame) {
    none.cfa = UnwindRule::signal_frame;
    return none;
  }
  std::uintptr_t start = 0;
  std::uintptr_t size = 0;
  if (!read_encoded(at, cie.pointer_encoding, 0, start)) return none;
  if (!read_encoded(at, cie.pointer_encoding & 0x0f, 0, size)) return none;
  if (pc < start || pc >= start + size) return none;  // between functions
  if (cie.augmented) {
    const std::uint64_t augmentation_size = read_uleb(at);
    at += augmentation_size;
  }
  Program program(cie, start, pc);
  if (!program.run(cie.instructions, cie.end)) return none;
  program.keep_initial();
  if (!program.run(at, end)) return none;
  Row row = program.row;
  if (row.return_undefined) row.rule.cfa = UnwindRule::outermost;
  if (!row.return_at_cfa) row.rule.cfa = UnwindRule::unsupported;
  return row.rule;
}

}  // namespace

UnwindRule find_unwind_rule(std::uintptr_t pc) {
  dl_find_object module{};
  if (find_object(reinterpret_cast<void*>(pc), &module) != 0 || module.dlfo_eh_frame == nullptr) {
    return {};
  }
  const UnwindRule rule = read_rule(static_cast<Bytes>(module.dlfo_eh_frame), pc);
  tables_were_read(module);
  return rule;
}

}  // namespace memduel::recorder
