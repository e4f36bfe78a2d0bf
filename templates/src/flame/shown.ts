// Which side of two profiles is shown, and which frames stay out.

import type { FlameModel } from "./data";

/** Of two profiles: what they differ in, one of them, or the stacks that only one of them has. */
export type Shown = "difference" | "first" | "second" | "removed" | "added";

export const all_shown = ["difference", "first", "second", "removed", "added"] as const;

export interface Filter {
  /** Born in this round, in this phase. */
  round: number | null;
  phase: number | null;
  shown: Shown;
  /** Amounts of allocator frames go to the functions that called them. */
  hide_allocators: boolean;
}

export function shown_label(shown: Shown, [first = "", second = ""]: string[]): string {
  switch (shown) {
    case "difference":
      return "difference";
    case "first":
      return first;
    case "second":
      return second;
    case "removed":
      return `removed: only in ${first}`;
    case "added":
      return `added: only in ${second}`;
  }
}

/** The profiles whose amounts are drawn. */
export function sides_of(model: FlameModel, shown: Shown): number[] {
  if (model.profiles.length < 2 || shown === "first") return [0];
  return shown === "second" ? [1] : [0, 1];
}

const allocator =
  /^(?:\w+ )*(?:(?:__)?(?:libc_)?(?:malloc|calloc|realloc|reallocarray|aligned_alloc|posix_memalign|memalign|valloc|pvalloc|mmap(?:64)?|mremap|s?brk)\b|operator new\b|std::(?:__new_)?allocator(?:_traits)?\b|__gnu_cxx::(?:new_allocator|__alloc_traits|malloc_allocator)\b|(?:je|tc|mi|sdallocx?|rallocx)_\w*alloc|_?Py(?:Mem|Object)_(?:Raw)?(?:Malloc|Calloc|Realloc)\b|_PyMem_|c10::(?:alloc_cpu|Alloc|\w*Allocator)\b)/;

/** Per frame whether it only hands memory out. */
export function allocator_frames(model: FlameModel): Uint8Array {
  return Uint8Array.from(model.frames.names, (name) => (allocator.test(name.slice(0, 400)) ? 1 : 0));
}
