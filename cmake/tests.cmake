# tests.cmake: one GoogleTest program per layer. None in another project.

if(NOT PROJECT_IS_TOP_LEVEL)
  function(eventq_tests)
  endfunction()
  return()
endif()

enable_testing()
include(GoogleTest)
find_package(GTest REQUIRED)

# eventq_tests(<layer> <source>... [LIBRARIES <target>...] [DEFINITIONS <name=value>...]
#              [LABELS <label>] [TIMEOUT <seconds>] [POSTGRES <filter>])
#
# Builds <layer>_test from the sources, linked to <layer>, and registers the TESTs in it.
# With a label the program is called <layer>_<label>_test, so that a layer may have several.
#
# The label decides in which presets the program exists at all:
#   none          under the address sanitizer
#   threads       there, and under the thread sanitizer
#   random        there, and in the release: with more rounds (support/rounds.h)
#   random_threads  in all three
#   release_only  too slow or without meaning under any sanitizer
# The release builds the first two only when asked for by name.
#
# POSTGRES registers those that GoogleTest's filter lets pass once more, with EVENTQ_TEST_STORE=postgres:
# support/test_store.h then gives them a database instead of a file. In one preset: the release if it has the
# program, otherwise under the address sanitizer.
function(eventq_tests layer)
  cmake_parse_arguments(arg "" "LABELS;TIMEOUT;POSTGRES" "LIBRARIES;DEFINITIONS" ${ARGN})
  if(EVENTQ_SANITIZE AND arg_LABELS STREQUAL release_only)
    return()
  endif()
  if(EVENTQ_SANITIZE STREQUAL thread AND NOT arg_LABELS MATCHES threads)
    return()
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 600)
  endif()

  set(name ${layer}_test)
  if(arg_LABELS)
    set(name ${layer}_${arg_LABELS}_test)
  endif()
  set(of_release FALSE)
  if(arg_LABELS MATCHES "release_only|random")
    set(of_release TRUE)
  endif()
  set(built "")
  if(CMAKE_BUILD_TYPE STREQUAL Release AND NOT of_release)
    set(built EXCLUDE_FROM_ALL)
  endif()
  add_executable(${name} ${built} ${arg_UNPARSED_ARGUMENTS})
  # The binary folder, too: a layer's embedded files (embed.cmake) are there for its tests.
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src ${CMAKE_CURRENT_BINARY_DIR})
  target_compile_definitions(${name} PRIVATE ${arg_DEFINITIONS})
  if(TARGET ${layer})
    target_link_libraries(${name} PRIVATE ${layer})
  endif()
  target_link_libraries(${name} PRIVATE ${arg_LIBRARIES} GTest::gmock GTest::gtest_main)
  # What is tested is optimized and instrumented; the tests' own code need not be, and compiles in half the time.
  if(EVENTQ_SANITIZE MATCHES undefined)
    # Nowhere else are all of them compiled, so a warning is an error here.
    target_compile_options(${name} PRIVATE -O0 -g0 -fno-sanitize=undefined -Werror)
  elseif(EVENTQ_SANITIZE)
    target_compile_options(${name} PRIVATE -O0 -g0)
  elseif(arg_LABELS MATCHES random)
    target_compile_options(${name} PRIVATE -O1)  # runs for longer than that takes
  else()
    target_compile_options(${name} PRIVATE -O0 -U_FORTIFY_SOURCE)
  endif()
  if(built)
    return()
  endif()
  eventq_register(${name} "" "*" "" ${arg_TIMEOUT} "${arg_LABELS}")
  if(arg_POSTGRES AND (of_release AND NOT EVENTQ_SANITIZE OR NOT of_release AND EVENTQ_SANITIZE MATCHES address))
    eventq_register(${name} postgres. "${arg_POSTGRES}" EVENTQ_TEST_STORE=postgres ${arg_TIMEOUT} "${arg_LABELS}")
  endif()
endfunction()

# A process for each TEST costs most of them more than they take: several processes share them, each in turn.
# Those that take long or kill something have one of their own.
function(eventq_register name prefix filter environment timeout label)
  if(label MATCHES "release_only|random")
    gtest_discover_tests(${name}
      TEST_PREFIX "${prefix}"
      TEST_FILTER "${filter}"
      DISCOVERY_MODE PRE_TEST
      DISCOVERY_TIMEOUT 300
      PROPERTIES TIMEOUT ${timeout} COST ${timeout} LABELS "${label}" ENVIRONMENT "${environment}")
    return()
  endif()
  set(shards 8)
  foreach(shard RANGE 1 ${shards})
    math(EXPR index "${shard} - 1")
    set(test ${prefix}${name}.${shard})
    add_test(NAME ${test} COMMAND ${name} --gtest_brief=1 "--gtest_filter=${filter}")
    set_tests_properties(${test} PROPERTIES
      TIMEOUT 1200 COST ${timeout} LABELS "${label}"
      ENVIRONMENT "GTEST_TOTAL_SHARDS=${shards};GTEST_SHARD_INDEX=${index};${environment}")
  endforeach()
endfunction()
