// operator new and delete, all forms.
#include <dlfcn.h>

#include <cstdlib>

#include "allocator_call.h"
#include "hooks.h"

namespace memduel::recorder {

namespace {

// Each variant is a class of the form and of its function type, so that one list makes its table.

// ---- early: the next allocator is not known yet ------------------------------------------------

template <auto kForm, class Function>
struct Early;
template <NewForm kForm, class... Rest>
struct Early<kForm, void*(std::size_t, Rest...)> {
  static void* call(std::size_t size, Rest... rest) {
    leave_early();
    return reinterpret_cast<void* (*)(std::size_t, Rest...)>(new_hooks.forms[kForm])(size, rest...);
  }
};
template <DeleteForm kForm, class... Rest>
struct Early<kForm, void(void*, Rest...)> {
  static void call(void* block, Rest... rest) {
    leave_early();
    reinterpret_cast<void (*)(void*, Rest...)>(new_hooks.delete_forms_[kForm])(block, rest...);
  }
};

// ---- fast: libstdc++'s operator new is a loop around malloc ----------------------------------

// Its first turn is made here, which saves a call; without memory libstdc++ goes on by itself. The
// usual forms of the fast variant are in fast_malloc.cpp.
template <NewForm kForm, bool kExact, class... Rest>
void* new_by_malloc(std::size_t size, Rest... rest) {
  void* block = next.malloc(size);
  if (__builtin_expect(block == nullptr, 0)) {
    return reinterpret_cast<void* (*)(std::size_t, Rest...)>(next.new_forms_[kForm])(size, rest...);
  }
  if constexpr (kExact) {
    return account_exactly(block, size, glibc_chunk_bytes(block), __builtin_frame_address(0));
  }
  return account_allocation(block, size, glibc_chunk_bytes(block));
}

// ---- counted: the next operator new does not come through malloc ----------------------------

template <auto kForm, class Function>
struct Counted;
template <NewForm kForm, class... Rest>
struct Counted<kForm, void*(std::size_t, Rest...)> {
  static void* call(std::size_t size, Rest... rest) {
    auto* make = reinterpret_cast<void* (*)(std::size_t, Rest...)>(next.new_forms_[kForm]);
    const void* frame = __builtin_frame_address(0);
    if (inside_allocator(frame)) return make(size, rest...);
    return account_born(call_allocator(frame, [&] { return make(size, rest...); }), size, frame);
  }
};
template <DeleteForm kForm, class... Rest>
struct Counted<kForm, void(void*, Rest...)> {
  static void call(void* block, Rest... rest) {
    auto* remove = reinterpret_cast<void (*)(void*, Rest...)>(next.delete_forms_[kForm]);
    if (block == nullptr) return;
    const void* frame = __builtin_frame_address(0);
    if (inside_allocator(frame)) return remove(block, rest...);
    account_death(block, frame);
    const AllocatorCall call_of_allocator(frame);
    remove(block, rest...);
  }
};

// ---- on malloc: no C++ library was in sight at start (a C program that opens a C++ plugin) ----

// The C++ library that the caller was linked with says what happens without memory: its operator
// new calls the new handler and throws.
template <class... Rest>
void* new_of_caller(const char* name, const void* caller, std::size_t size, Rest... rest) {
  Dl_info info{};
  void* module =
      dladdr(caller, &info) != 0 ? dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : nullptr;
  void* found = module != nullptr ? dlsym(module, name) : nullptr;
  if (found == nullptr) abort();
  return reinterpret_cast<void* (*)(std::size_t, Rest...)>(found)(size, rest...);
}

void* plain_new(std::size_t size) {
  void* block = hooks.malloc(size == 0 ? 1 : size);
  if (block != nullptr) return block;
  return new_of_caller("_Znwm", __builtin_return_address(0), size);
}

void* nothrow_new(std::size_t size, const void* /*tag*/) {
  return hooks.malloc(size == 0 ? 1 : size);
}

void* aligned_new(std::size_t size, std::size_t alignment) {
  void* block = aligned_alloc(alignment, (size + alignment - 1) & ~(alignment - 1));
  if (block != nullptr) return block;
  return new_of_caller("_ZnwmSt11align_val_t", __builtin_return_address(0), size, alignment);
}

void* aligned_nothrow_new(std::size_t size, std::size_t alignment, const void* /*tag*/) {
  return aligned_alloc(alignment, (size + alignment - 1) & ~(alignment - 1));
}

void plain_delete(void* block) {
  hooks.free(block);
}

template <class Function>
AnyFunction any(Function* function) {
  return reinterpret_cast<AnyFunction>(function);
}

}  // namespace

// A constant: it serves calls that come before any initialiser.
#define MEMDUEL_EARLY_NEW(form, symbol, parameters, arguments) \
  reinterpret_cast<AnyFunction>(&Early<form, void * parameters>::call),
#define MEMDUEL_EARLY_DELETE(form, symbol, parameters, arguments) \
  reinterpret_cast<AnyFunction>(&Early<form, void parameters>::call),
NewHooks new_hooks = {{MEMDUEL_NEW_FORMS(MEMDUEL_EARLY_NEW)},
                      {MEMDUEL_DELETE_FORMS(MEMDUEL_EARLY_DELETE)}};

namespace {

template <bool kExact>
void install_new_by_malloc() {
  new_hooks.forms[new_plain] = any(kExact ? &new_by_malloc<new_plain, true> : &fast_new);
  new_hooks.forms[new_array] = any(kExact ? &new_by_malloc<new_array, true> : &fast_new_array);
  new_hooks.forms[new_nothrow] = any(&new_by_malloc<new_nothrow, kExact, const void*>);
  new_hooks.forms[new_array_nothrow] = any(&new_by_malloc<new_array_nothrow, kExact, const void*>);
  for (int i = 0; i < delete_aligned; ++i) new_hooks.delete_forms_[i] = any(hooks.free);
}

}  // namespace

void install_new(bool recording) {
  // Made here and not as constants of the file: casts would make those a static initialiser, which
  // runs after the first allocation.
#define MEMDUEL_COUNTED_NEW(form, symbol, parameters, arguments) \
  any(&Counted<form, void * parameters>::call),
#define MEMDUEL_COUNTED_DELETE(form, symbol, parameters, arguments) \
  any(&Counted<form, void parameters>::call),
  const AnyFunction counted_new_forms[new_forms] = {MEMDUEL_NEW_FORMS(MEMDUEL_COUNTED_NEW)};
  const AnyFunction counted_delete_forms[delete_forms] = {
      MEMDUEL_DELETE_FORMS(MEMDUEL_COUNTED_DELETE)};
  const AnyFunction new_on_malloc[new_forms] = {
      any(&plain_new),   any(&plain_new),   any(&nothrow_new),         any(&nothrow_new),
      any(&aligned_new), any(&aligned_new), any(&aligned_nothrow_new), any(&aligned_nothrow_new),
  };
  for (int i = 0; i < new_forms; ++i) {
    if (next.new_forms_[i] == nullptr) {
      new_hooks.forms[i] = new_on_malloc[i];
    } else {
      new_hooks.forms[i] =
          recording && !next.new_calls_malloc ? counted_new_forms[i] : next.new_forms_[i];
    }
  }
  for (int i = 0; i < delete_forms; ++i) {
    if (next.delete_forms_[i] == nullptr) {
      new_hooks.delete_forms_[i] = any(&plain_delete);
    } else {
      new_hooks.delete_forms_[i] =
          recording && !next.new_calls_malloc ? counted_delete_forms[i] : next.delete_forms_[i];
    }
  }
  if (!recording || !next.new_is_libstdcxx) return;
  if (hooks.malloc == fast_malloc) install_new_by_malloc<false>();
  if (hooks.malloc == exact_malloc) install_new_by_malloc<true>();
}

}  // namespace memduel::recorder

using memduel::recorder::new_hooks;

#define MEMDUEL_NEW(form, symbol, parameters, arguments)                                     \
  extern "C"                                                                                 \
      __attribute__((visibility("default"))) void* memduel_##symbol parameters asm(#symbol); \
  void* memduel_##symbol parameters {                                                        \
    return reinterpret_cast<void*(*)parameters>(new_hooks.forms[memduel::recorder::form])    \
        arguments;                                                                           \
  }

#define MEMDUEL_DELETE(form, symbol, parameters, arguments)                                        \
  extern "C" __attribute__((visibility("default"))) void memduel_##symbol parameters asm(#symbol); \
  void memduel_##symbol parameters {                                                               \
    reinterpret_cast<void(*) parameters>(new_hooks.delete_forms_[memduel::recorder::form])         \
        arguments;                                                                                 \
  }

MEMDUEL_NEW_FORMS(MEMDUEL_NEW)
MEMDUEL_DELETE_FORMS(MEMDUEL_DELETE)
