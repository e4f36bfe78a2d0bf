#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "profile/function_names.h"

namespace memduel {
namespace {

constexpr std::string_view kV8Heap = "V8 heap";
constexpr std::string_view kWasm = "WebAssembly memory";
constexpr std::string_view kJavaHeap = "Java heap";
constexpr std::string_view kMetaspace = "Java metaspace";
constexpr std::string_view kCodeCache = "Java code cache";
constexpr std::string_view kJavaVm = "Java VM memory";
constexpr std::string_view kPhpHeap = "PHP heap";
constexpr std::string_view kArenas = "small Python objects";
constexpr std::string_view kCallStack = "CPython call stack";
constexpr std::string_view kRubyHeap = "Ruby heap";
constexpr std::string_view kRubyFibers = "Ruby fiber stacks";
constexpr std::string_view kRubyVm = "Ruby VM memory";
constexpr std::string_view kOpenBlas = "OpenBLAS buffers";

constexpr std::array kMemory = {
    RuntimeMemory{kV8Heap,
                  "start the program with node --heapsnapshot-signal=SIGUSR2, send kill -USR2 PID, "
                  "and load the file in Chrome's DevTools (Memory)"},
    RuntimeMemory{kWasm, ""},
    RuntimeMemory{kJavaHeap, "run jcmd PID GC.class_histogram"},
    RuntimeMemory{kMetaspace, "run jcmd PID VM.metaspace"},
    RuntimeMemory{kCodeCache, "run jcmd PID Compiler.codecache"},
    RuntimeMemory{kJavaVm,
                  "start the program with java -XX:NativeMemoryTracking=summary, then run jcmd PID "
                  "VM.native_memory"},
    RuntimeMemory{kGoHeap,
                  "import net/http/pprof, serve it on localhost:6060, and run go tool pprof "
                  "http://localhost:6060/debug/pprof/heap"},
    RuntimeMemory{
        kPhpHeap,
        "print memory_get_usage() between the steps of the script, or use PHP's extension "
        "memprof"},
    RuntimeMemory{kArenas,
                  "record every object: PYTHONMALLOC=malloc memduel record --exact -- CMD"},
    RuntimeMemory{kCallStack, ""},
    RuntimeMemory{kRubyHeap,
                  "run require \"objspace\"; ObjectSpace.dump_all(output: File.open(\"heap.json\", "
                  "\"w\")) in the program"},
    RuntimeMemory{kRubyFibers, ""},
    RuntimeMemory{kRubyVm, ""},
    RuntimeMemory{kOpenBlas, "set OPENBLAS_NUM_THREADS=1, which makes them fewer"},
    RuntimeMemory{kOtherAnonymous, "run pmap -X PID, which lists its mappings"},
};

/// Beginnings of names; empty ones are none.
using NameBeginnings = std::array<std::string_view, 14>;

bool begins_as_one_of(std::string_view text, const NameBeginnings& names) {
  return std::ranges::any_of(
      names, [&](std::string_view name) { return !name.empty() && text.starts_with(name); });
}

/// A runtime's own code.
struct Runtime {
  NameBeginnings
      files;  ///< of libraries how their names begin, of programs the name without a version
  NameBeginnings namespaces;  ///< of functions wherever they are linked
};

constexpr Runtime kV8 = {{"node", "nodejs", "d8", "libnode.so", "libv8"},
                         {"v8::", "cppgc::", "heap::base::", "node::", "Builtins_"}};
constexpr Runtime kJava = {{"libjvm.so", "libjli.so", "java"}, {}};
constexpr Runtime kGo = {{}, {"x_cgo_mmap", "runtime."}};
constexpr Runtime kPhp = {{"php", "php-fpm", "php-cgi", "libphp"}, {"zend_mm_"}};
constexpr Runtime kPython = {{"python", "libpython"}, {"_PyMem_Arena", "_PyObject_Arena"}};
constexpr Runtime kRuby = {{"ruby", "libruby"}, {}};
constexpr Runtime kBlas = {{"libopenblas", "libscipy_openblas", "libblas"},
                           {"blas_memory_alloc", "scipy_blas_memory_alloc"}};

/// The first rule that holds names the mapping.
struct Rule {
  std::string_view name;
  Runtime runtime;
  NameBeginnings
      innermost;         ///< how the function that maps begins; none: any, also one without a name
  NameBeginnings any;    ///< how one of the runtime's own frames begins; none: any
  bool nameless = true;  ///< a function without a name may be the one that maps
};

constexpr std::array kRules = {
    Rule{kV8Heap, kV8, {"v8::"}, {"v8::internal::MemoryAllocator::"}, false},
    Rule{kWasm, kV8, {"v8::"}, {"v8::internal::BackingStore::"}, false},
    Rule{kV8Heap, kV8, {"v8::", "cppgc::"}, {}},
    Rule{kCodeCache, kJava, {}, {"CodeHeap::", "CodeCache::"}},
    Rule{kMetaspace, kJava, {}, {"Metaspace::", "metaspace::", "MetaspaceGC::"}},
    Rule{kJavaVm, kJava, {}, {"G1CMMarkStack::"}},
    Rule{kJavaHeap,
         kJava,
         {},
         {"G1CollectedHeap::", "HeapRegionManager::", "G1HeapRegionManager::", "GenCollectedHeap::",
          "SerialHeap::", "DefNewGeneration::", "TenuredGeneration::", "ParallelScavengeHeap::",
          "PSOldGen::", "PSYoungGen::", "ShenandoahHeap::", "ZHeap::", "EpsilonHeap::"}},
    Rule{kJavaVm, kJava, {}, {}},
    Rule{kGoHeap, kGo, {"x_cgo_mmap"}, {}, false},
    Rule{kPhpHeap, kPhp, {"zend_mm_", "start_memory_manager", "alloc_globals_ctor"}, {}},
    Rule{kCallStack, kPython, {}, {"_PyObject_VirtualAlloc", "push_chunk", "allocate_chunk"}},
    Rule{kArenas, kPython, {"_PyMem_Arena", "_PyObject_Arena", "new_arena"}, {}},
    Rule{kRubyFibers, kRuby, {}, {"fiber_pool_"}},
    Rule{kRubyHeap,
         kRuby,
         {},
         {"heap_page_", "heap_assign_page", "newobj_", "rb_newobj", "rb_wb_protected_newobj",
          "rb_wb_unprotected_newobj", "rb_ec_wb_protected_newobj"}},
    Rule{kRubyVm, kRuby, {}, {}},
    Rule{kOpenBlas, kBlas, {}, {"blas_memory_alloc", "scipy_blas_memory_alloc"}},
};

/// `php8.2` is php's, `phpunit` is not.
bool is_file_of(std::string_view file, std::string_view name) {
  if (name.empty() || !file.starts_with(name)) return false;
  return name.starts_with("lib") ||
         file.find_first_not_of("0123456789.-", name.size()) == std::string_view::npos;
}

bool is_code_of(const Runtime& runtime, const CodeFrame& frame) {
  if (frame.is_python) return false;
  return std::ranges::any_of(runtime.files,
                             [&](auto name) { return is_file_of(frame.file, name); }) ||
         begins_as_one_of(qualified_name(frame.function), runtime.namespaces);
}

/// What the runtime compiles while it runs lies in no file.
bool is_made_at_run_time(const CodeFrame& frame) {
  return !frame.is_python && frame.file.empty();
}

/// The innermost frames that are the runtime's own, and, where nothing else called them, all.
std::size_t own_frames(const Runtime& runtime, std::span<const CodeFrame> stack) {
  std::size_t count = 0;
  while (count < stack.size() &&
         (is_code_of(runtime, stack[count]) || (count > 0 && is_made_at_run_time(stack[count]))))
    ++count;
  const bool starts = std::ranges::all_of(stack.subspan(count), [](const CodeFrame& frame) {
    return starts_something(frame.function) || frame.file.starts_with("ld-linux");
  });
  return starts ? stack.size() : count;
}

bool holds(const Rule& rule, std::span<const CodeFrame> own, bool fills_arena) {
  const std::string_view first = qualified_name(own.front().function);
  const bool any_first = std::ranges::all_of(rule.innermost, &std::string_view::empty);
  const bool is_nameless = is_place(own.front().function);
  if (is_nameless && (!rule.nameless || (rule.name == kArenas && !fills_arena))) return false;
  if (!is_nameless && !any_first && !begins_as_one_of(first, rule.innermost)) return false;
  return std::ranges::all_of(rule.any, &std::string_view::empty) ||
         std::ranges::any_of(own, [&](const CodeFrame& frame) {
           return begins_as_one_of(qualified_name(frame.function), rule.any);
         });
}

}  // namespace

const RuntimeMemory* runtime_memory(std::string_view name) {
  const auto* const found = std::ranges::find(kMemory, name, &RuntimeMemory::name);
  return found == kMemory.end() ? nullptr : found;
}

std::string_view name_of_mapping(std::string_view kernel_name) {
  constexpr std::string_view kBegin = "[anon:";
  if (kernel_name.empty() || kernel_name == "anonymous") return kOtherAnonymous;
  if (!kernel_name.starts_with(kBegin)) return kernel_name;
  std::string_view name = kernel_name.substr(kBegin.size());
  if (name.ends_with(']')) name.remove_suffix(1);
  if (name.starts_with(' ')) name.remove_prefix(1);
  if (name.starts_with("Go: ")) return kGoHeap;
  if (name == "v8") return kV8Heap;
  if (name == "zend_alloc") return kPhpHeap;
  return name;
}

std::optional<RuntimeFrames> runtime_frames(std::span<const CodeFrame> stack, bool fills_arena) {
  if (stack.empty()) return std::nullopt;
  for (const Rule& rule : kRules) {
    if (!is_code_of(rule.runtime, stack.front())) continue;
    const std::size_t count = own_frames(rule.runtime, stack);
    if (holds(rule, stack.first(count), fills_arena)) return RuntimeFrames{rule.name, count};
  }
  return std::nullopt;
}

namespace {

bool is_owner(const Profile& profile, std::uint32_t node) {
  return profile.locations[profile.stacks[node].location].kind == ProfileLocation::Kind::owner;
}

/// The nodes of code on the way to the root, innermost first, and the owner of resident pages that
/// they stand on: 0 where they stand on none.
struct Way {
  std::vector<std::uint32_t> code;
  std::uint32_t root = 0;
};

Way way_of(const Profile& profile, std::uint32_t stack) {
  Way way;
  for (std::uint32_t node = stack; node != 0; node = profile.stacks[node].parent) {
    if (is_owner(profile, node)) {
      way.root = node;
      break;
    }
    way.code.push_back(node);
  }
  return way;
}

/// The functions that map without a name are told by where they lie, and by who called them.
using MappingPlace = std::pair<std::uint32_t, std::uint32_t>;

std::optional<MappingPlace> mapping_place(const Profile& profile, const Way& way) {
  if (way.code.size() < 2) return std::nullopt;
  return MappingPlace{profile.stacks[way.code[0]].location, profile.stacks[way.code[1]].location};
}

/// Sizes of CPython's arenas: before 3.10, and since.
bool has_size_of_arena(const Estimate& mapped) {
  constexpr double kOldArena = 256 << 10;
  constexpr double kArena = 1 << 20;
  return mapped.bytes == mapped.count * kArena || mapped.bytes == mapped.count * kOldArena;
}

class MemoryNames {
 public:
  explicit MemoryNames(Profile& profile) : profile_(profile) {
    std::set<MappingPlace> others;
    for (const AllocationSite& site : profile.sites) {
      if (site.heap != Heap::mapped) continue;
      const auto place = mapping_place(profile, way_of(profile, site.stack));
      if (place) (has_size_of_arena(site.allocated) ? arenas_ : others).insert(*place);
    }
    for (const MappingPlace& place : others) arenas_.erase(place);
    for (const ProfileModule& module : profile.modules)
      files_.push_back(std::filesystem::path(module.path).filename().string());
  }

  void name(AllocationSite& site) {
    const auto [known, is_new] = named_.try_emplace({site.stack, site.heap}, site.stack);
    if (is_new) known->second = with_name(site.stack, site.heap);
    site.stack = known->second;
  }

 private:
  std::uint32_t with_name(std::uint32_t stack, Heap heap) {
    const Way way = way_of(profile_, stack);
    if (way.code.empty() || (heap != Heap::mapped && !is_of_mappings(way.root))) return stack;
    std::vector<CodeFrame> frames;
    std::vector<std::size_t> node_of;  // of each frame, its number in the way
    for (std::size_t i = 0; i < way.code.size(); ++i) add_frames(way.code[i], i, frames, node_of);
    const auto place = mapping_place(profile_, way);
    const auto found = runtime_frames(frames, place && arenas_.contains(*place));
    if (!found) return stack;
    const std::size_t own = node_of[found->count - 1] + 1;
    std::uint32_t node = own < way.code.size() ? way.code[own] : way.root;
    node = child_of(node, location_of(found->name));
    for (std::size_t i = own; i-- > 0;)
      node = child_of(node, profile_.stacks[way.code[i]].location);
    return node;
  }

  [[nodiscard]] bool is_of_mappings(std::uint32_t root) const {
    return root != 0 && profile_.locations[profile_.stacks[root].location].names.front().function ==
                            to_name(PageOwner::mapped);
  }

  void add_frames(std::uint32_t node, std::size_t number, std::vector<CodeFrame>& frames,
                  std::vector<std::size_t>& node_of) {
    const ProfileLocation& location = profile_.locations[profile_.stacks[node].location];
    const std::string_view file =
        location.module ? std::string_view(files_[*location.module]) : std::string_view();
    const bool is_python = location.kind == ProfileLocation::Kind::python;
    const auto add = [&](std::string_view function) {
      frames.push_back({function, file, is_python});
      node_of.push_back(number);
    };
    for (const FrameName& name : location.names) add(name.function);
    if (location.names.empty())
      add(texts_.try_emplace(node, describe(profile_, location)).first->second);
  }

  std::uint32_t location_of(std::string_view name) {
    const auto [known, is_new] =
        locations_.try_emplace(name, static_cast<std::uint32_t>(profile_.locations.size()));
    if (is_new) {
      ProfileLocation location;
      location.kind = ProfileLocation::Kind::owner;
      location.names.push_back({std::string(name), {}, 0});
      profile_.locations.push_back(std::move(location));
    }
    return known->second;
  }

  std::uint32_t child_of(std::uint32_t parent, std::uint32_t location) {
    const auto [known, is_new] = children_.try_emplace(
        {parent, location}, static_cast<std::uint32_t>(profile_.stacks.size()));
    if (is_new) profile_.stacks.push_back({parent, location});
    return known->second;
  }

  Profile& profile_;
  std::vector<std::string> files_;              ///< by module
  std::map<std::uint32_t, std::string> texts_;  ///< by node: of places without a name
  std::set<MappingPlace> arenas_;               ///< what mapped arenas and nothing else
  std::map<std::pair<std::uint32_t, Heap>, std::uint32_t> named_;  ///< by what they were
  std::map<std::string_view, std::uint32_t> locations_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> children_;
};

/// What the kernel calls a mapping, as people know it.
void name_unexplained(Profile& profile) {
  for (ResidentPart& part : profile.resident->parts)
    if (part.owner == PageOwner::other) part.name = name_of_mapping(part.name);
  for (const StackNode& node : profile.stacks) {
    if (node.parent == 0 || profile.stacks[node.parent].parent != 0) continue;
    const ProfileLocation& root = profile.locations[profile.stacks[node.parent].location];
    if (root.kind != ProfileLocation::Kind::owner ||
        root.names.front().function != to_name(PageOwner::other))
      continue;
    std::string& name = profile.locations[node.location].names.front().function;
    name = name_of_mapping(name);
  }
}

}  // namespace

void name_runtime_memory(Profile& profile) {
  MemoryNames names(profile);
  for (AllocationSite& site : profile.sites)
    if (site.heap == Heap::mapped) names.name(site);
  if (!profile.resident) return;
  for (const LiveSites* sites : {&profile.resident->sites, &profile.resident->untouched})
    for (const auto& entry : *sites) names.name(profile.sites[entry.first]);
  name_unexplained(profile);
}

std::uint32_t without_runtime(const Profile& profile, std::uint32_t stack) {
  for (std::uint32_t node = stack; node != 0; node = profile.stacks[node].parent) {
    if (!is_owner(profile, node)) continue;
    const ProfileLocation& location = profile.locations[profile.stacks[node].location];
    return runtime_memory(location.names.front().function) != nullptr ? node : stack;
  }
  return stack;
}

std::vector<std::pair<std::uint32_t, Estimate>> without_runtimes(
    const Profile& profile, const std::vector<std::pair<std::uint32_t, Estimate>>& stacks) {
  std::map<std::uint32_t, Estimate> sums;
  for (const auto& [stack, amount] : stacks) sums[without_runtime(profile, stack)] += amount;
  std::vector<std::pair<std::uint32_t, Estimate>> told(sums.begin(), sums.end());
  std::ranges::stable_sort(
      told, [](const auto& a, const auto& b) { return a.second.bytes > b.second.bytes; });
  return told;
}

}  // namespace memduel
