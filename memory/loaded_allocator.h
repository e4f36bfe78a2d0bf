// Functions of the allocator that the process has loaded; nothing is linked.
#pragma once

#include <dlfcn.h>

#include <cstddef>
#include <optional>

namespace memduel {

/// nullptr when nothing that is loaded has it.
template <class Function>
Function loaded_symbol(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
}

using Mallctl = int (*)(const char* name, void* old_value, std::size_t* old_size, void* new_value,
                        std::size_t new_size);

/// Only under Allocator::jemalloc.
inline Mallctl jemalloc_control() {
  return loaded_symbol<Mallctl>("mallctl");
}

/// Absent where this jemalloc has no such value, or one of another size.
template <class Value>
std::optional<Value> read_control(Mallctl mallctl, const char* name) {
  Value value{};
  std::size_t size = sizeof value;
  if (mallctl(name, &value, &size, nullptr, 0) != 0 || size != sizeof value) return std::nullopt;
  return value;
}

}  // namespace memduel
