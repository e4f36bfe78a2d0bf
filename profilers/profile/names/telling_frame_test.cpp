#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "profile/function_names.h"

namespace memduel {
namespace {

std::string telling(const std::vector<std::string>& stack) {
  return stack[telling_frame(stack)];
}

TEST(TellingFrame, SkipsTheLibraryAndTheAllocator) {
  EXPECT_EQ(telling({"main", "load(int)", "std::vector<char>::vector(unsigned long)",
                     "std::__new_allocator<char>::allocate(unsigned long, void const*)",
                     "operator new(unsigned long)"}),
            "load(int)");
  EXPECT_EQ(telling({"main", "void std::vector<int>::_M_realloc_insert<int>(int&&)"}), "main");
  EXPECT_EQ(telling({"main", "(anonymous namespace)::keep(std::string)", "malloc"}),
            "(anonymous namespace)::keep(std::string)");
  EXPECT_EQ(telling({"Buffer my::make<std::string>(int)", "[libc.so]"}),
            "Buffer my::make<std::string>(int)");
  EXPECT_EQ(telling({"std::thread::run()", "operator new(unsigned long)"}),
            "operator new(unsigned long)")
      << "the innermost where nothing tells more";
}

TEST(TellingFrame, PrefersAPythonFunctionToWhatItCalls) {
  EXPECT_EQ(telling({"main (server.py)", "keep (server.py)", "at::empty_cpu(int)"}),
            "keep (server.py)");
}

TEST(TellingFrame, PrefersTheNameOfARuntimesMemoryAndThePythonFunctionThatNeededIt) {
  const std::vector<std::string> stack = {"_start", "main (job.py)", "load (job.py)",
                                          "array_new(int)", "small Python objects"};
  EXPECT_EQ(telling(stack), "small Python objects");
  EXPECT_EQ(telling_caller(stack), "load (job.py)");
  EXPECT_EQ(telling_caller({"main", "app::make_isolate()", "V8 heap"}), "app::make_isolate()");
  EXPECT_EQ(telling_caller({"V8 heap"}), "");
}

TEST(TellingCaller, IsTheFirstThatTellsRowsOfOneFunctionApart) {
  const std::vector<std::string> tail = {"memduel::Bytes::copy_of(std::string_view)",
                                         "memduel::Bytes::reserve(unsigned long)"};
  for (const char* caller : {"gather", "wrap"}) {
    std::vector<std::string> stack = {"main", "take_upload", caller};
    stack.insert(stack.end(), tail.begin(), tail.end());
    EXPECT_EQ(telling(stack), tail[1]);
    EXPECT_EQ(telling_caller(stack), caller);
  }
}

TEST(TellingCaller, PassesOverLibTorchAndWhatOnlyCalls) {
  const std::vector<std::string> stack = {"main",
                                          "aggregate(State&)",
                                          "operator()",
                                          "std::__invoke_impl<void>(std::__invoke_other)",
                                          "at::add(at::Tensor const&, at::Tensor const&)",
                                          "[libtorch_cpu.so]",
                                          "at::detail::empty_cpu(c10::ArrayRef<long>)",
                                          "allocate",
                                          "[libc10.so]",
                                          "c10::alloc_cpu(unsigned long)"};
  EXPECT_EQ(telling(stack), "at::detail::empty_cpu(c10::ArrayRef<long>)");
  EXPECT_EQ(telling_caller(stack), "aggregate(State&)");
}

TEST(TellingCaller, HasANameWhereAnyCallerHas) {
  EXPECT_EQ(telling_caller({"main", "validate(Net&)", "libtorch.so.1.13+0x1f73b8f",
                            "convolve(Tensor const&)"}),
            "validate(Net&)");
  EXPECT_EQ(telling_caller({"clone3", "libstdc++.so.6+0xd44a2", "Worker::run(int)"}), "");
  EXPECT_EQ(telling_caller({"_start", "libx.so+0x20", "libtorch.so.1.13+0x1f73b8f", "convolve()"}),
            "libtorch.so.1.13+0x1f73b8f");
}

TEST(TellingCaller, OfPythonIsPython) {
  EXPECT_EQ(telling_caller({"main (server.py)", "PyEval_Call", "keep (server.py)", "malloc"}),
            "main (server.py)");
  EXPECT_EQ(telling_caller({"malloc"}), "");
  EXPECT_EQ(telling_caller({}), "");
}

TEST(TellingCaller, OfAComprehensionIsNotTheFunctionThatItIsIn) {
  EXPECT_EQ(telling_caller({"<module> (a.py)", "main (a.py)", "load (a.py)",
                            "load.<locals>.<listcomp> (a.py)"}),
            "main (a.py)");
  EXPECT_EQ(telling_caller({"loading (a.py)", "load.<locals>.keep (a.py)"}), "loading (a.py)");
}

TEST(FrameWithLocation, IsTheOneThatTellsOrNeedsTheRuntimesMemory) {
  EXPECT_EQ(frame_with_location({"main", "load(int)", "operator new(unsigned long)"}), 1U);
  EXPECT_EQ(frame_with_location({"<module> (a.py)", "load (a.py)", "small Python objects"}), 1U);
  EXPECT_EQ(frame_with_location({"V8 heap"}), std::nullopt);
  EXPECT_EQ(frame_with_location({}), std::nullopt);
}

TEST(FramesWithLocations, GoOnWithTheCallersInPython) {
  EXPECT_EQ(frames_with_locations(
                {"<module> (a.py)", "PyEval_Call", "load (a.py)", "deepcopy (copy.py)", "malloc"}),
            (std::vector<std::size_t>{3, 2, 0}));
  EXPECT_EQ(frames_with_locations({"main", "load(int)", "malloc"}), (std::vector<std::size_t>{1}));
  EXPECT_TRUE(frames_with_locations({"V8 heap"}).empty());
}

}  // namespace
}  // namespace memduel
