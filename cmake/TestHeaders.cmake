# memduel_test_main: main() of the test programs, and a precompiled header for them. Parsing these headers takes most of the time of compiling a test.
add_library(memduel_test_main OBJECT ${PROJECT_SOURCE_DIR}/tests/test_main.cpp)
target_link_libraries(memduel_test_main PRIVATE GTest::gmock GTest::gtest nlohmann_json::nlohmann_json)
target_precompile_headers(memduel_test_main PRIVATE <gmock/gmock.h> <gtest/gtest.h> <nlohmann/json.hpp> <chrono> <filesystem> <fstream> <thread>)
# Programs are compiled with -fPIE.
target_compile_options(memduel_test_main PRIVATE ${MEMDUEL_WARNINGS} ${MEMDUEL_TEST_OPTIONS} -fPIE)
