#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "profile/function_names.h"

namespace memduel {
namespace {

constexpr std::string_view kNode = "node";
constexpr std::string_view kJvm = "libjvm.so";
constexpr std::string_view kLibc = "libc.so.6";

struct Named {
  std::string_view name;
  std::size_t count = 0;
};

Named named(const std::vector<CodeFrame>& stack, bool fills_arena = false) {
  const auto found = runtime_frames(stack, fills_arena);
  return found ? Named{found->name, found->count} : Named{};
}

// The frames of all stacks below were recorded: node 20.20, OpenJDK 17.0.15, PHP 8.2, Go 1.26, Ruby
// 3.1, R 4.2 with OpenBLAS, CPython 3.11 of Debian (without symbols) and of pyenv.

TEST(RuntimeMemory, NamesTheHeapOfV8DownToTheStartOfTheProgram) {
  const std::vector<CodeFrame> stack = {
      {"v8::base::OS::SetPermissions(void*, unsigned long, v8::base::OS::MemoryPermission)", kNode},
      {"v8::internal::MemoryAllocator::AllocatePage(v8::internal::Space*)", kNode},
      {"heap::base::SlotCallbackResult v8::internal::Scavenger::ScavengeObject<v8::internal::"
       "FullHeapObjectSlot>(v8::internal::FullHeapObjectSlot, v8::internal::HeapObject)",
       kNode},
      {"0x7f849beda475", ""},
      {"node::(anonymous namespace)::PlatformWorkerThread(void*)", kNode},
      {"start_thread", kLibc},
      {"clone3", kLibc}};
  EXPECT_EQ(named(stack).name, "V8 heap");
  EXPECT_EQ(named(stack).count, 7U) << "nothing but the start of a thread called it";
}

TEST(RuntimeMemory, LeavesWhatAnEmbedderOfV8Calls) {
  const std::vector<CodeFrame> stack = {
      {"v8::base::OS::SetPermissions(void*, unsigned long, v8::base::OS::MemoryPermission)", "app"},
      {"v8::Isolate::Initialize(v8::Isolate*, v8::Isolate::CreateParams const&)", "app"},
      {"app::make_isolate()", "app"},
      {"main", "app"}};
  EXPECT_EQ(named(stack).name, "V8 heap");
  EXPECT_EQ(named(stack).count, 2U);
}

TEST(RuntimeMemory, TellsWebAssemblyFromTheHeapOfV8) {
  EXPECT_EQ(
      named({{"v8::base::OS::SetPermissions(void*, unsigned long, int)", kNode},
             {"v8::internal::BackingStore::AllocateWasmMemory(v8::internal::Isolate*)", kNode},
             {"v8::internal::WasmMemoryObject::New(v8::internal::Isolate*)", kNode}})
          .name,
      "WebAssembly memory");
}

TEST(RuntimeMemory, NamesWhatACollectionMapsOnTheWayTheHeapOfV8) {
  EXPECT_EQ(
      named({{"v8::base::OS::SetPermissions(void*, unsigned long, int)", kNode},
             {"v8::internal::MemoryAllocator::AllocatePage(v8::internal::Space*)", kNode},
             {"v8::internal::Heap::CollectGarbage(v8::internal::AllocationSpace)", kNode},
             {"v8::internal::BackingStore::AllocateWasmMemory(v8::internal::Isolate*)", kNode}})
          .name,
      "V8 heap");
}

TEST(RuntimeMemory, LeavesOtherMappingsOfNode) {
  EXPECT_EQ(named({{"uv__fs_mmap(void*)", kNode}, {"node::Start(int, char**)", kNode}}).name, "");
}

TEST(RuntimeMemory, TellsThePartsOfTheJavaVmApart) {
  const CodeFrame commit{"os::pd_commit_memory(char*, unsigned long, bool)", kJvm};
  const CodeFrame start{"JavaMain", "libjli.so"};
  EXPECT_EQ(named({commit,
                   {"G1PageBasedVirtualSpace::commit(unsigned long, unsigned long)", kJvm},
                   {"HeapRegionManager::expand_by(unsigned int, WorkGang*)", kJvm},
                   {"G1CollectedHeap::initialize()", kJvm},
                   start})
                .name,
            "Java heap");
  EXPECT_EQ(named({commit,
                   {"G1CMMarkStack::resize(unsigned long)", kJvm},
                   {"G1CollectedHeap::initialize()", kJvm},
                   start})
                .name,
            "Java VM memory");
  EXPECT_EQ(named({commit,
                   {"VirtualSpace::expand_by(unsigned long, bool)", kJvm},
                   {"CodeHeap::reserve(ReservedSpace, unsigned long, unsigned long)", kJvm},
                   start})
                .name,
            "Java code cache");
  EXPECT_EQ(
      named({commit,
             {"metaspace::VirtualSpaceNode::commit_range(unsigned int*, unsigned long)", kJvm},
             start})
          .name,
      "Java metaspace");
  EXPECT_EQ(named({{"libjvm.so+0x1234", kJvm}, start}).name, "Java VM memory") << "no symbols";
  EXPECT_EQ(named({commit, start, {"start_thread", kLibc}}).count, 3U);
}

TEST(RuntimeMemory, NamesTheHeapOfGoWithCgo) {
  const Named found = named({{"x_cgo_mmap", "objects"}, {"runtime.callCgoMmap", "objects"}});
  EXPECT_EQ(found.name, "Go heap");
  EXPECT_EQ(named({{"map_table", "objects"}, {"runtime.asmcgocall", "objects"}}).name, "")
      << "C code of the program";
}

TEST(RuntimeMemory, NamesTheHeapOfPhpWithAndWithoutSymbols) {
  EXPECT_EQ(named({{"php8.2+0x2d3b57", "php8.2"},
                   {"zend_hash_packed_fgrow", "php8.2"},
                   {"execute_ex", "php8.2"},
                   {"_start", "php8.2"}})
                .name,
            "PHP heap");
  EXPECT_EQ(named({{"zend_mm_chunk_alloc_int", "php"}, {"_emalloc_huge", "php"}}).name, "PHP heap");
  EXPECT_EQ(
      named({{"pcre2_jit_stack_create_8", "libpcre2-8.so.0.11.2"}, {"php8.2+0x17d947", "php8.2"}})
          .name,
      "");
  EXPECT_EQ(named({{"phpunit+0x10", "phpunit"}}).name, "") << "another program";
}

TEST(RuntimeMemory, NamesArenasAndLeavesThePythonFunctionThatNeededThem) {
  const std::vector<CodeFrame> stack = {{"_PyObject_ArenaMmap", "python3.11"},
                                        {"new_arena", "python3.11"},
                                        {"_PyObject_MakeTpCall", "python3.11"},
                                        {"<listcomp>", "", true},
                                        {"Py_BytesMain", "python3.11"}};
  EXPECT_EQ(named(stack).name, "small Python objects");
  EXPECT_EQ(named(stack).count, 3U);
}

TEST(RuntimeMemory, TellsTheCallStackOfPythonFromItsArenas) {
  EXPECT_EQ(named({{"_PyObject_ArenaMmap", "python3.11"},
                   {"_PyObject_VirtualAlloc", "python3.11"},
                   {"allocate_chunk", "python3.11"},
                   {"push_chunk", "python3.11"}})
                .name,
            "CPython call stack");
}

TEST(RuntimeMemory, TakesTheSizeForAnArenaWherePythonHasNoSymbols) {
  const std::vector<CodeFrame> stack = {{"python3.11+0x62d098", "python3.11"},
                                        {"python3.11+0x4fb706", "python3.11"},
                                        {"<listcomp>", "", true}};
  EXPECT_EQ(named(stack, true).name, "small Python objects");
  EXPECT_EQ(named(stack, true).count, 2U);
  EXPECT_EQ(named(stack, false).name, "");
  EXPECT_EQ(named({{"mmap.cpython-311-x86_64-linux-gnu.so+0x2f1a",
                    "mmap.cpython-311-x86_64-linux-gnu.so"},
                   {"python3.11+0x4fb706", "python3.11"}},
                  true)
                .name,
            "")
      << "the program's own mapping";
}

TEST(RuntimeMemory, TellsTheObjectsOfRubyFromTheRest) {
  constexpr std::string_view kRuby = "libruby-3.1.so.3.1.2";
  EXPECT_EQ(named({{"libruby-3.1.so.3.1+0xcfc9c", kRuby},
                   {"libruby-3.1.so.3.1+0xda2bd", kRuby},
                   {"rb_wb_protected_newobj_of", kRuby},
                   {"ruby+0x110a", "ruby3.1"}})
                .name,
            "Ruby heap");
  EXPECT_EQ(named({{"libruby-3.1.so.3.1+0x90c6a", kRuby}, {"ruby_setup", kRuby}}).name,
            "Ruby VM memory");
}

TEST(RuntimeMemory, NamesTheBuffersOfOpenBlas) {
  const Named found = named({{"libopenblas.so.0+0x3738f5", "libopenblas.so.0"},
                             {"blas_memory_alloc", "libopenblas.so.0"},
                             {"libopenblas.so.0+0x374843", "libopenblas.so.0"},
                             {"start_thread", kLibc},
                             {"clone3", kLibc}});
  EXPECT_EQ(found.name, "OpenBLAS buffers");
  EXPECT_EQ(found.count, 5U);
}

TEST(RuntimeMemory, NamesNoMappingOfAProgramOfNoRuntime) {
  EXPECT_EQ(named({}).name, "");
  EXPECT_EQ(named({{"map_table(char const*)", "job"}, {"main", "job"}}).name, "");
}

TEST(RuntimeMemory, TakesTheKernelsNamesOfMappings) {
  EXPECT_EQ(name_of_mapping("[anon: Go: heap]"), "Go heap");
  EXPECT_EQ(name_of_mapping("[anon:scudo:primary]"), "scudo:primary");
  EXPECT_EQ(name_of_mapping(""), "other anonymous memory");
  EXPECT_EQ(name_of_mapping("[vdso]"), "[vdso]");
}

TEST(RuntimeMemory, HasAdviceOnWhatGrows) {
  ASSERT_NE(runtime_memory("Java heap"), nullptr);
  EXPECT_EQ(runtime_memory("Java heap")->advice, "run jcmd PID GC.class_histogram");
  EXPECT_EQ(runtime_memory("heap"), nullptr);
}

using testing::ElementsAre;

constexpr double kMiB = 1 << 20;

ProfileLocation native(std::size_t module, std::uint64_t address,
                       const std::string& function = {}) {
  ProfileLocation location{ProfileLocation::Kind::native, module, address, {}};
  if (!function.empty()) location.names.push_back({function, {}, 0});
  return location;
}

AllocationSite mapping(std::uint32_t stack, double bytes, double count) {
  AllocationSite site;
  site.stack = stack;
  site.heap = Heap::mapped;
  site.allocated = {bytes, count, 0, 1};
  return site;
}

/// A Python without symbols: load() needs two arenas by one way and one by another, and maps three
/// MiB itself.
Profile python_profile() {
  Profile profile;
  profile.modules = {{"/usr/bin/python3.11", "", 0, 0, 0}, {"/usr/lib/mmap.so", "", 0, 0, 0}};
  profile.locations = {native(0, 1, "_start"),
                       {ProfileLocation::Kind::python, std::nullopt, 0, {{"load", "/job.py", 3}}},
                       native(0, 0x50),
                       native(0, 0x51),
                       native(0, 0x40),
                       native(0, 0x30),
                       native(1, 0x20)};
  // _start, load, then 0x50 or 0x51, 0x40, 0x30; or mmap.so.
  profile.stacks = {{}, {0, 0}, {1, 1}, {2, 2}, {3, 4}, {4, 5}, {2, 3}, {6, 4}, {7, 5}, {2, 6}};
  profile.sites = {mapping(5, 2 * kMiB, 2), mapping(8, kMiB, 1), mapping(9, 3 * kMiB, 1)};
  return profile;
}

std::vector<std::string> names_of(const Profile& profile, std::uint32_t stack) {
  std::vector<std::string> names;
  for (const FrameName& frame : frames_of(profile, stack)) names.push_back(frame.function);
  return names;
}

TEST(NamedMemory, StandsOutsideOfTheRuntimesFramesAndInsideOfThePythonFunction) {
  Profile profile = python_profile();
  name_runtime_memory(profile);
  const std::uint32_t stack = profile.sites[0].stack;
  EXPECT_THAT(names_of(profile, stack),
              ElementsAre("_start", "load", "small Python objects", "python3.11+0x50",
                          "python3.11+0x40", "python3.11+0x30"));
  const auto frames = told_frames(profile, stack);
  const std::size_t lead = leading_frame(profile, stack);
  EXPECT_EQ(short_name(frames[lead].name.function), "small Python objects");
  EXPECT_EQ(frames[lead + 1].name.function, "load");
  EXPECT_THAT(names_of(profile, profile.sites[2].stack),
              ElementsAre("_start", "load", "mmap.so+0x20"))
      << "the program's own mapping keeps its function";
}

TEST(NamedMemory, IsOneStackWhicheverFunctionOfTheRuntimeNeededIt) {
  Profile profile = python_profile();
  name_runtime_memory(profile);
  const std::uint32_t one = without_runtime(profile, profile.sites[0].stack);
  EXPECT_EQ(without_runtime(profile, profile.sites[1].stack), one);
  EXPECT_EQ(without_runtime(profile, profile.sites[2].stack), profile.sites[2].stack);
  const auto stacks = without_runtimes(profile, {{profile.sites[2].stack, {3 * kMiB + 1, 1, 0, 1}},
                                                 {profile.sites[0].stack, {2 * kMiB, 2, 0, 1}},
                                                 {profile.sites[1].stack, {2 * kMiB, 2, 0, 1}}});
  ASSERT_EQ(stacks.size(), 2U);
  EXPECT_EQ(stacks[0].first, one);
  EXPECT_EQ(stacks[0].second.bytes, 4 * kMiB);
  EXPECT_EQ(stacks[0].second.count, 4);
}

TEST(NamedMemory, NeedsTheSizeOfAnArenaOfAllThatAPlaceMaps) {
  Profile profile = python_profile();
  profile.sites.push_back(mapping(5, 16 << 10, 1));  // by the same functions
  name_runtime_memory(profile);
  EXPECT_THAT(names_of(profile, profile.sites[0].stack),
              testing::Not(testing::Contains("small Python objects")));
}

TEST(NamedMemory, LeavesBlocksOfTheSameStack) {
  Profile profile = python_profile();
  AllocationSite block = mapping(5, 10, 1);
  block.heap = Heap::malloc;
  profile.sites.push_back(block);
  name_runtime_memory(profile);
  EXPECT_EQ(profile.sites[3].stack, 5U);
  EXPECT_NE(profile.sites[0].stack, 5U);
}

TEST(NamedMemory, NamesPagesOfASnapshotToo) {
  Profile profile = python_profile();
  const auto owner = [](const std::string& name) {
    return ProfileLocation{ProfileLocation::Kind::owner, std::nullopt, 0, {{name, {}, 0}}};
  };
  for (const char* name : {"mapped", "other", "anonymous"})
    profile.locations.push_back(owner(name));  // 7 to 9
  // mapping, load, 0x50, 0x40, 0x30; unexplained, anonymous.
  for (const StackNode& node :
       {StackNode{0, 7}, {10, 1}, {11, 2}, {12, 4}, {13, 5}, {0, 8}, {15, 9}})
    profile.stacks.push_back(node);
  for (const std::uint32_t stack : {14U, 16U}) {
    AllocationSite site;
    site.stack = stack;
    profile.sites.push_back(site);
  }
  profile.resident.emplace();
  profile.resident->sites = {{3, {kMiB, 1, 0, 1}}, {4, {8192, 0, 0, 1}}};
  profile.resident->parts = {{PageOwner::other, "anonymous", {}, 8192}};
  name_runtime_memory(profile);
  EXPECT_THAT(names_of(profile, without_runtime(profile, profile.sites[3].stack)),
              ElementsAre("mapped", "load", "small Python objects"));
  EXPECT_THAT(names_of(profile, profile.sites[4].stack),
              ElementsAre("other", "other anonymous memory"));
  EXPECT_EQ(profile.resident->parts[0].name, "other anonymous memory");
}

}  // namespace
}  // namespace memduel
