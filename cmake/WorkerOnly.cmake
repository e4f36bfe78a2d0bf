# memduel-worker for machines with LibTorch, a compiler and the headers of nlohmann_json and {fmt}, and nothing else: no tool, no tests, no transport
# but Unix sockets. It looks for no other library, so that it is the same program wherever it is built; docs/gpu.md shows how.
set(MEMDUEL_GRPC OFF)
find_package(Threads REQUIRED)
find_package(Torch REQUIRED)
# Wheels before LibTorch 2.6 have the old std::string: everything must be compiled as they are.
string(APPEND CMAKE_CXX_FLAGS " ${TORCH_CXX_FLAGS}")

find_package(nlohmann_json QUIET)
if(NOT TARGET nlohmann_json::nlohmann_json)
  find_path(NLOHMANN_JSON_INCLUDE_DIR nlohmann/json.hpp HINTS ${TORCH_INCLUDE_DIRS} DOC "The folder that holds nlohmann/json.hpp")
  if(NOT NLOHMANN_JSON_INCLUDE_DIR)
    message(FATAL_ERROR "nlohmann/json.hpp is missing: it is one file; give its folder, -DNLOHMANN_JSON_INCLUDE_DIR=DIR for DIR/nlohmann/json.hpp")
  endif()
  add_library(nlohmann_json::nlohmann_json INTERFACE IMPORTED)
  target_include_directories(nlohmann_json::nlohmann_json INTERFACE ${NLOHMANN_JSON_INCLUDE_DIR})
endif()

# {fmt} by its headers alone, so that no library has to be there.
find_path(FMT_INCLUDE_DIR fmt/format.h HINTS ${TORCH_INCLUDE_DIRS} DOC "The folder that holds fmt/format.h")
if(NOT FMT_INCLUDE_DIR)
  message(FATAL_ERROR "fmt/format.h is missing: it is a folder of headers; give the folder above it, -DFMT_INCLUDE_DIR=DIR for DIR/fmt/format.h")
endif()
add_library(fmt::fmt INTERFACE IMPORTED)
target_include_directories(fmt::fmt SYSTEM INTERFACE ${FMT_INCLUDE_DIR})
target_compile_definitions(fmt::fmt INTERFACE FMT_HEADER_ONLY)

add_subdirectory(include)
add_subdirectory(util)
add_subdirectory(model)
add_subdirectory(memory)
add_subdirectory(workloads)
