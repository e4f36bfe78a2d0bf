// The functions that the recorder stands in front of. MEMDUEL_NEW_FORMS and MEMDUEL_DELETE_FORMS
// list every form of operator new and delete: its name here, its symbol, its parameters and the
// arguments that pass them on.
#pragma once

#include <sys/types.h>

#include <cstddef>

#include "thread_state.h"

#define MEMDUEL_NEW_FORMS(form)                                                                 \
  form(new_plain, _Znwm, (std::size_t n), (n)) form(new_array, _Znam, (std::size_t n), (n))     \
      form(new_nothrow, _ZnwmRKSt9nothrow_t, (std::size_t n, const void* t), (n, t))            \
          form(new_array_nothrow, _ZnamRKSt9nothrow_t, (std::size_t n, const void* t), (n, t))  \
              form(new_aligned, _ZnwmSt11align_val_t, (std::size_t n, std::size_t a), (n, a))   \
                  form(new_array_aligned, _ZnamSt11align_val_t, (std::size_t n, std::size_t a), \
                       (n, a)) form(new_aligned_nothrow, _ZnwmSt11align_val_tRKSt9nothrow_t,    \
                                    (std::size_t n, std::size_t a, const void* t), (n, a, t))   \
                      form(new_array_aligned_nothrow, _ZnamSt11align_val_tRKSt9nothrow_t,       \
                           (std::size_t n, std::size_t a, const void* t), (n, a, t))

// The forms before delete_aligned free what malloc gave.
#define MEMDUEL_DELETE_FORMS(form)                                                                \
  form(delete_plain, _ZdlPv, (void* p), (p)) form(delete_array, _ZdaPv, (void* p), (p))           \
      form(delete_sized, _ZdlPvm, (void* p, std::size_t n), (p, n))                               \
          form(delete_array_sized, _ZdaPvm, (void* p, std::size_t n), (p, n))                     \
              form(delete_nothrow, _ZdlPvRKSt9nothrow_t, (void* p, const void* t), (p, t)) form(  \
                  delete_array_nothrow, _ZdaPvRKSt9nothrow_t, (void* p, const void* t), (p, t))   \
                  form(delete_aligned, _ZdlPvSt11align_val_t, (void* p, std::size_t a), (p, a))   \
                      form(delete_array_aligned, _ZdaPvSt11align_val_t, (void* p, std::size_t a), \
                           (p, a)) form(delete_sized_aligned, _ZdlPvmSt11align_val_t,             \
                                        (void* p, std::size_t n, std::size_t a), (p, n, a))       \
                          form(delete_array_sized_aligned, _ZdaPvmSt11align_val_t,                \
                               (void* p, std::size_t n, std::size_t a), (p, n, a))                \
                              form(delete_aligned_nothrow, _ZdlPvSt11align_val_tRKSt9nothrow_t,   \
                                   (void* p, std::size_t a, const void* t), (p, a, t))            \
                                  form(delete_array_aligned_nothrow,                              \
                                       _ZdaPvSt11align_val_tRKSt9nothrow_t,                       \
                                       (void* p, std::size_t a, const void* t), (p, a, t))

namespace memduel::recorder {

#define MEMDUEL_FORM(name, symbol, parameters, arguments) name,
enum NewForm { MEMDUEL_NEW_FORMS(MEMDUEL_FORM) new_forms };
enum DeleteForm { MEMDUEL_DELETE_FORMS(MEMDUEL_FORM) delete_forms };
#undef MEMDUEL_FORM

using AnyFunction = void (*)();

struct Next {
  void* (*malloc)(std::size_t);
  void (*free)(void*);
  void* (*calloc)(std::size_t, std::size_t);
  void* (*realloc)(void*, std::size_t);
  int (*posix_memalign)(void**, std::size_t, std::size_t);
  void* (*aligned_alloc)(std::size_t, std::size_t);
  void* (*memalign)(std::size_t, std::size_t);
  void* (*valloc)(std::size_t);
  void* (*pvalloc)(std::size_t);
  std::size_t (*usable_size)(void*);
  AnyFunction new_forms_[new_forms];  ///< nullptr where no C++ library was loaded at start
  AnyFunction delete_forms_[delete_forms];

  bool glibc;                   ///< chunk headers of glibc, verified at start
  bool new_calls_malloc;        ///< operator new arrives at our malloc by itself
  bool new_is_libstdcxx;        ///< and that of libstdc++ at that
  std::uintptr_t module_begin;  ///< address range of the allocator's library
  std::uintptr_t module_end;
  char provider[256];  ///< file of the allocator's library
};

extern Next next MEMDUEL_HIDDEN;

/// Fills `next`. Called once, from the first allocation or the constructor.
void resolve_next() MEMDUEL_HIDDEN;

/// Whether libc's allocator gave out `block` while `next` was being resolved, and forgets it.
bool take_early_block(void* block) MEMDUEL_HIDDEN;
bool is_early_block(const void* block) MEMDUEL_HIDDEN;

/// What glibc set aside for a block, read from the chunk header in front of it.
inline std::int64_t glibc_chunk_bytes(const void* block) {
  return static_cast<std::int64_t>(static_cast<const std::size_t*>(block)[-1] & ~std::size_t{7});
}

inline std::int64_t block_bytes(void* block) {
  if (next.glibc) return glibc_chunk_bytes(block);
  return static_cast<std::int64_t>(next.usable_size(block));
}

}  // namespace memduel::recorder

// glibc's own entry points, for allocations made while dlsym looks for the next allocator.
extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void __libc_free(void*);
}
