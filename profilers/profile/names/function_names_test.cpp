#include "profile/function_names.h"

#include <gtest/gtest.h>

namespace memduel {
namespace {

ProfileLocation at(std::size_t module, const std::string& function) {
  return {ProfileLocation::Kind::native, module, 0x10, {{function, "x.cpp", 3}}};
}

/// main calls load(), which makes a vector; from Python, train() calls a library.
Profile program_profile() {
  Profile profile;
  profile.info["program"] = "/opt/job";
  profile.modules = {{"/opt/job", "", 0, 0, 0},
                     {"/usr/lib/libc.so.6", "", 0, 0, 0},
                     {"/usr/bin/python3.11", "", 0, 0, 0},
                     {"/usr/lib/libtorch.so", "", 0, 0, 0}};
  profile.locations = {
      at(1, "__libc_start_main"),
      at(0, "main"),
      at(0, "app::load(int)"),
      at(0, "std::vector<int, std::allocator<int> >::reserve(unsigned long)"),
      {ProfileLocation::Kind::native, 0, 0x99, {}},
      at(2, "_PyEval_EvalFrameDefault"),
      {ProfileLocation::Kind::python, std::nullopt, 0, {{"train", "/a/train.py", 12}}},
      at(3, "at::empty(int)"),
      at(1, "malloc")};
  return profile;
}

TEST(OwnCode, LeadsWithTheProgramsInnermostFunction) {
  Profile profile = program_profile();
  profile.stacks = {{}, {0, 0}, {1, 1}, {2, 2}, {3, 3}};
  EXPECT_EQ(leading_frame(profile, 4), 1U) << "load, not the vector it makes";
  EXPECT_FALSE(told_frames(profile, 4)[0].own);
}

TEST(OwnCode, LeadsWithPythonBeforeTheLibraryThatItCalls) {
  Profile profile = program_profile();
  profile.stacks = {{}, {0, 5}, {1, 6}, {2, 5}, {3, 7}, {4, 8}};
  const auto frames = told_frames(profile, 5);
  EXPECT_EQ(frames[leading_frame(profile, 5)].name.function, "train");
  EXPECT_EQ(frames[leading_frame(profile, 5)].name.line, 12);
}

TEST(OwnCode, OfAStrippedProgramIsItsPlaceNotWhatStartedIt) {
  Profile profile = program_profile();
  profile.stacks = {{}, {0, 0}, {1, 4}, {2, 8}};
  EXPECT_EQ(told_frames(profile, 3)[leading_frame(profile, 3)].name.function, "job+0x99");
}

TEST(OwnCode, IsNoRustLibrarysFunction) {
  EXPECT_TRUE(hands_memory_out("<alloc::vec::Vec<u8> as core::clone::Clone>::clone"));
  EXPECT_TRUE(hands_memory_out("hashbrown::raw::RawTable<T>::reserve"));
  EXPECT_FALSE(hands_memory_out("<app::Square<usize> as app::Shape>::area"));
}

TEST(OwnCode, IsARustMethodWhoseTypeOrTraitIsTheProgramsOwn) {
  EXPECT_TRUE(hands_memory_out("<u8 as <[_]>::to_vec_in::ConvertVec>::to_vec::<alloc::Global>"));
  EXPECT_TRUE(hands_memory_out("<[u8]>::to_vec_in::<alloc::alloc::Global>"));
  EXPECT_TRUE(
      hands_memory_out("<&dyn core::ops::function::Fn<(), Output = i32> + core::marker::Sync "
                       "as core::ops::function::FnOnce<()>>::call_once"));
  EXPECT_FALSE(hands_memory_out("<u8 as app::Shape>::area"));
  EXPECT_FALSE(hands_memory_out("<alloc::vec::Vec<u8> as app::Shape>::area"));
  EXPECT_FALSE(hands_memory_out("<app::Row as core::clone::Clone>::clone"));
  EXPECT_FALSE(hands_memory_out("<module>"));
}

TEST(QualifiedName, IsWhatStandsBeforeTheParameters) {
  EXPECT_EQ(qualified_name("std::thread::_Invoker<std::tuple<void (*)()> >::operator()()"),
            "std::thread::_Invoker<std::tuple<void (*)()> >::operator()()");
  EXPECT_EQ(qualified_name("bool app::operator< (int)"), "app::operator< (int)");
  EXPECT_EQ(qualified_name("std::vector<int>& app::sum<int>(int)"), "app::sum<int>");
  EXPECT_EQ(qualified_name("int app::operators(int)").substr(0, 5), "app::");
}

TEST(OwnCode, IsAFunctionThatOnlyBeginsLikeAnAllocatorsOrIsCalledLikeWhatStartsThreads) {
  EXPECT_FALSE(hands_memory_out("malloc_my_way"));
  EXPECT_FALSE(hands_memory_out("core::load(int)"));
  EXPECT_FALSE(starts_something("clone(State)"));
  EXPECT_TRUE(starts_something("__clone3"));
  EXPECT_TRUE(hands_memory_out("core::ptr::drop_in_place<T>"));
}

TEST(ShortName, LeavesOutWhatStandsInBracketsAndKeepsTheFunctionsOwn) {
  EXPECT_EQ(
      short_name("nlohmann::basic_json<std::map, std::vector, bool>::parse(char const*, bool)"),
      "nlohmann::basic_json‹…›::parse");
  EXPECT_EQ(
      short_name("std::vector<int, std::allocator<int> >& app::sum<int>(std::vector<int> const&)"),
      "app::sum‹…›");
  EXPECT_EQ(short_name("operator new(unsigned long)"), "operator new");
  EXPECT_EQ(short_name("bool operator< <int>(int, int)"), "operator< ‹…›");
  EXPECT_EQ(short_name("app::(anonymous namespace)::hidden(int)"), "app::hidden");
  EXPECT_EQ(short_name("app::Pool::total() const::{lambda(app::Part "
                       "const&)#1}::operator()(app::Part const&) const"),
            "app::Pool::total::{lambda}::operator()");
  EXPECT_EQ(short_name("<alloc::vec::Vec<u8> as core::clone::Clone>::clone"), "Vec‹…›::clone");
  EXPECT_EQ(short_name("<[u8]>::to_vec_in::<alloc::alloc::Global>"), "[u8]::to_vec_in::‹…›");
  EXPECT_EQ(short_name("<&dyn core::ops::function::Fn<(), Output = i32> + core::marker::Sync as "
                       "core::ops::function::FnOnce<()>>::call_once"),
            "Fn‹…›::call_once");
  EXPECT_EQ(short_name("c10::Dispatcher::registerImpl(c10::OperatorName, std::basic_string<char, "
                       "std::allocator<char> >)"),
            "c10::Dispatcher::registerImpl");
  EXPECT_EQ(short_name("Trainer.step (<string>)"), "Trainer.step (<string>)");
  EXPECT_EQ(short_name("main"), "main");
  EXPECT_EQ(short_name("Server.fit (server.py)"), "Server.fit (server.py)");
  EXPECT_EQ(short_name("Trainer.step.<locals>.<listcomp>"), "Trainer.step, list comprehension");
  EXPECT_EQ(short_name("load.<locals>.<lambda>.<locals>.<genexpr> (a.py)"),
            "load, lambda, generator expression (a.py)");
  EXPECT_EQ(short_name("load.<locals>.keep (a.py)"), "load.keep (a.py)");
  EXPECT_EQ(short_name("<listcomp> (a.py)"), "list comprehension (a.py)") << "CPython 3.10";
  EXPECT_EQ(short_name("<module> (a.py)"), "<module> (a.py)");
  EXPECT_EQ(short_name("<module>"), "<module>");
}

}  // namespace
}  // namespace memduel
