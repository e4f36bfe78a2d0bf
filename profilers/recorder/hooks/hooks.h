// The variants of the entry points, and the table through which the exported functions jump.
#pragma once

#include <cstddef>

#include "next.h"

namespace memduel::recorder {

/// The exported functions except malloc jump through this table, so that a variant costs no test on
/// each call: early (before the next allocator is known), fast (glibc's chunks; count and sampled
/// mode), exact (glibc's chunks; exact mode), full (any other allocator), off.
struct Hooks {
  void* (*malloc)(std::size_t);
  void (*free)(void*);
  void* (*calloc)(std::size_t, std::size_t);
  void* (*realloc)(void*, std::size_t);
};

/// The exported malloc is the fast one. It asks `first` for the block and, where that gives none,
/// `second`: the next allocator and nobody, or nobody and the variant that is in force.
struct MallocPath {
  void* (*first)(std::size_t);
  void* (*second)(std::size_t);
};

struct NewHooks {
  AnyFunction forms[new_forms];
  AnyFunction delete_forms_[delete_forms];
};

extern Hooks hooks MEMDUEL_HIDDEN;
extern MallocPath malloc_path asm("memduel_malloc_path") MEMDUEL_HIDDEN;
extern NewHooks new_hooks MEMDUEL_HIDDEN;

/// Resolves the next allocator on the first call; the table is never `early` afterwards.
void leave_early() MEMDUEL_HIDDEN;
/// Chooses fast or full by allocator and mode.
void install_recording() MEMDUEL_HIDDEN;
/// From now on calls go straight to the next allocator.
void install_off() MEMDUEL_HIDDEN;
/// Chooses the operator new and delete forms for the running variant.
void install_new(bool recording) MEMDUEL_HIDDEN;

/// fast_malloc.cpp
void* fast_malloc(std::size_t size) asm("memduel_fast_malloc") MEMDUEL_HIDDEN;
void* fast_new(std::size_t size) asm("memduel_fast_new") MEMDUEL_HIDDEN;
void* fast_new_array(std::size_t size) asm("memduel_fast_new_array") MEMDUEL_HIDDEN;
void* exact_malloc(std::size_t size) MEMDUEL_HIDDEN;
void* early_malloc(std::size_t size) MEMDUEL_HIDDEN;
void* early_calloc(std::size_t count, std::size_t size) MEMDUEL_HIDDEN;
void* early_realloc(void* old, std::size_t size) MEMDUEL_HIDDEN;
void early_free(void* block) MEMDUEL_HIDDEN;

}  // namespace memduel::recorder
