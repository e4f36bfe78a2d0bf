# memduel-worker for machines with LibTorch, nlohmann_json and a compiler, and nothing else: no tool, no tests, no transport but
# Unix sockets. It looks for no other library, so that it is the same program wherever it is built; docs/gpu.md shows how.
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

# What the worker uses of {fmt}.
add_library(fmt::fmt INTERFACE IMPORTED)
target_include_directories(fmt::fmt INTERFACE ${PROJECT_SOURCE_DIR}/workloads/worker_only)

add_subdirectory(include)
add_subdirectory(base)
add_subdirectory(memory)
add_subdirectory(training)
add_subdirectory(workloads)
