// Every form of operator new and delete, once: its name here, its symbol, its parameters and the
// arguments that pass them on.
#pragma once

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
