// The fast path of malloc and operator new, in count and sampled mode over glibc's chunks. A
// program that does little but allocate shows every instruction here, and the compiler takes one
// more: it keeps the size in a register that it has to save, instead of in the word that the stack
// has to be aligned by anyway.
#include <cstddef>

#include "account.h"
#include "hooks.h"
#include "next.h"

namespace memduel::recorder {

static_assert(offsetof(ThreadState, left) == 0 && offsetof(ThreadState, room) == 8 &&
              offsetof(ThreadState, allocations) == 24);
static_assert(offsetof(MallocPath, first) == 0 && offsetof(MallocPath, second) == 8);
static_assert(offsetof(Next, malloc) == 0);
static_assert(offsetof(Next, new_forms_) == 80 && new_plain == 0 && new_array == 1);

}  // namespace memduel::recorder

extern "C" {

__attribute__((used, visibility("hidden"))) void* memduel_allocation_is_due(void* block,
                                                                            std::size_t requested,
                                                                            std::int64_t bytes) {
  return memduel::recorder::account_due(block, requested, bytes);
}

__attribute__((used, visibility("hidden"))) void* memduel_allocation_is_high(void* block,
                                                                             std::size_t requested,
                                                                             std::int64_t bytes) {
  return memduel::recorder::account_high(block, requested, bytes);
}
}

// What account_allocation does. `call` is asked for the block, `otherwise` where there is none. The
// size lies on the stack during the call, and all is as at the entry when others are jumped to.
#define MEMDUEL_FAST(call, otherwise)                      \
  ".cfi_startproc\n\t"                                     \
  "push %rdi\n\t"                                          \
  ".cfi_def_cfa_offset 16\n\t"                             \
  "call *" call                                            \
  "\n\t"                                                   \
  "pop %rsi\n\t"                                           \
  ".cfi_def_cfa_offset 8\n\t"                              \
  "test %rax, %rax\n\t"                                    \
  "je 1f\n\t"                                              \
  "mov _ZN7memduel8recorder3tlsE@gottpoff(%rip), %rdi\n\t" \
  "mov -8(%rax), %rdx\n\t"                                 \
  "and $-8, %rdx\n\t"                                      \
  "addq $1, %fs:24(%rdi)\n\t"                              \
  "sub %rsi, %fs:(%rdi)\n\t"                               \
  "js 2f\n\t"                                              \
  "sub %rdx, %fs:8(%rdi)\n\t"                              \
  "js 3f\n\t"                                              \
  "ret\n"                                                  \
  "1:\tmov %rsi, %rdi\n\t"                                 \
  "jmp *" otherwise                                        \
  "\n"                                                     \
  "2:\tmov %rax, %rdi\n\t"                                 \
  "jmp memduel_allocation_is_due\n"                        \
  "3:\tmov %rax, %rdi\n\t"                                 \
  "jmp memduel_allocation_is_high\n\t"                     \
  ".cfi_endproc\n"

#define MEMDUEL_FUNCTION(visibility, name, body)                                \
  asm(".text\n\t.p2align 4\n\t.globl " name "\n\t" visibility "\n\t.type " name \
      ", @function\n" name ":\n\t" body ".size " name ", .-" name "\n")

MEMDUEL_FUNCTION("", "malloc",
                 ".globl memduel_fast_malloc\n\t"
                 ".hidden memduel_fast_malloc\n"
                 "memduel_fast_malloc:\n\t" MEMDUEL_FAST("memduel_malloc_path(%rip)",
                                                         "memduel_malloc_path+8(%rip)"));

MEMDUEL_FUNCTION(".hidden memduel_fast_new", "memduel_fast_new",
                 MEMDUEL_FAST("_ZN7memduel8recorder4nextE(%rip)",
                              "_ZN7memduel8recorder4nextE+80(%rip)"));

MEMDUEL_FUNCTION(".hidden memduel_fast_new_array", "memduel_fast_new_array",
                 MEMDUEL_FAST("_ZN7memduel8recorder4nextE(%rip)",
                              "_ZN7memduel8recorder4nextE+88(%rip)"));
