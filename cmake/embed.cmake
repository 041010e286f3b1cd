# embed.cmake: turns text files into constants of the program.
#
# eventq_embed(TARGET <target> HEADER <path> NAMESPACE <namespace> [FRAGMENTS <file>] FILES <file>...)
#
#   eventq_embed(TARGET eventq_store HEADER generated/sqlite_sql.h
#     NAMESPACE eventq::sqlite::sql FILES sql/due.sql sql/0001_init.sql)
#
# adds the header "generated/sqlite_sql.h" to <target>. Its namespace has the std::string_view
# constants `due` and `m0001_init`, and the array `kAll` of all pairs (name, text) in the order
# given. The build writes the header again when a file changes. The target `eventq_embedded`
# writes all such headers and compiles nothing.
#
# FRAGMENTS is a file of texts that several files share. A line "--: name" begins a fragment; lines
# that begin with "--" are comments. Each {{name}} in a file, or in a later fragment, is replaced by
# the text of that fragment. A name without a fragment fails the build.
#
# This file is also the script that the build runs to write the header.

function(eventq_embed)
  cmake_parse_arguments(arg "" "TARGET;HEADER;NAMESPACE;FRAGMENTS" "FILES" ${ARGN})
  list(TRANSFORM arg_FILES PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  if(arg_FRAGMENTS)
    set(arg_FRAGMENTS ${CMAKE_CURRENT_SOURCE_DIR}/${arg_FRAGMENTS})
  endif()
  set(header ${CMAKE_CURRENT_BINARY_DIR}/${arg_HEADER})
  add_custom_command(
    OUTPUT ${header}
    COMMAND ${CMAKE_COMMAND} -DHEADER=${header} -DNAMESPACE=${arg_NAMESPACE} "-DFILES=${arg_FILES}"
      -DFRAGMENTS=${arg_FRAGMENTS} -P ${CMAKE_CURRENT_FUNCTION_LIST_FILE}
    DEPENDS ${arg_FILES} ${arg_FRAGMENTS} ${CMAKE_CURRENT_FUNCTION_LIST_FILE}
    COMMENT "Embedding ${arg_HEADER}"
    VERBATIM)
  get_filename_component(name ${arg_HEADER} NAME_WE)
  add_custom_target(eventq_embedded_${name} DEPENDS ${header})
  if(NOT TARGET eventq_embedded)
    add_custom_target(eventq_embedded)
  endif()
  add_dependencies(eventq_embedded eventq_embedded_${name})
  add_dependencies(${arg_TARGET} eventq_embedded_${name})
  target_sources(${arg_TARGET} PRIVATE ${header})
  target_include_directories(${arg_TARGET} PRIVATE ${CMAKE_CURRENT_BINARY_DIR})
endfunction()

if(NOT CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  return()
endif()

# Replaces each {{name}} in the text of the variable that `variable` names.
function(eventq_fill_in variable)
  set(filled "${${variable}}")
  foreach(name IN LISTS fragment_names)
    string(REPLACE "{{${name}}}" "${fragment_${name}}" filled "${filled}")
  endforeach()
  set(${variable} "${filled}" PARENT_SCOPE)
endfunction()

set(fragment_names "")
if(FRAGMENTS)
  file(READ ${FRAGMENTS} rest)
  string(FIND "${rest}" "\n--: " start)
  while(NOT start EQUAL -1)
    math(EXPR start "${start} + 5")
    string(SUBSTRING "${rest}" ${start} -1 rest)
    string(FIND "${rest}" "\n" end)
    string(SUBSTRING "${rest}" 0 ${end} name)
    string(SUBSTRING "${rest}" ${end} -1 rest)
    string(FIND "${rest}" "\n--: " start)
    string(SUBSTRING "${rest}" 0 ${start} fragment)
    string(REGEX REPLACE "\n--[^\n]*" "" fragment "${fragment}")
    string(REGEX REPLACE "^[ \n]+|[ \n]+$" "" fragment "${fragment}")
    eventq_fill_in(fragment)
    set(fragment_${name} "${fragment}")
    list(APPEND fragment_names ${name})
  endwhile()
endif()

set(constants "")
set(all "")
foreach(file IN LISTS FILES)
  file(READ ${file} text)
  if(FRAGMENTS)
    eventq_fill_in(text)
    if(text MATCHES "{{[a-z_]+}}")
      message(FATAL_ERROR "${file} names ${CMAKE_MATCH_0}, which ${FRAGMENTS} does not have")
    endif()
  endif()
  # The text must not contain the end of the raw string below.
  string(FIND "${text}" ")eventq_file\"" end)
  if(NOT end EQUAL -1)
    message(FATAL_ERROR "${file} contains )eventq_file\", which would end its raw string literal")
  endif()
  get_filename_component(name ${file} NAME_WLE)
  string(REGEX REPLACE "[-.]" _ name ${name})
  if(name MATCHES "^[0-9]")
    set(name m${name})
  endif()
  string(APPEND constants
    "inline constexpr std::string_view ${name} = R\"eventq_file(${text})eventq_file\"sv;\n")
  string(APPEND all "    {\"${name}\", ${name}},\n")
endforeach()
file(WRITE ${HEADER} "// Written by cmake/embed.cmake.
#pragma once

#include <string_view>
#include <utility>

namespace ${NAMESPACE} {

// With sv the length is known. From a plain literal the compiler would have to count it, which fails for long texts.
using std::string_view_literals::operator\"\"sv;

${constants}
inline constexpr std::pair<std::string_view, std::string_view> kAll[] = {
${all}};

}  // namespace ${NAMESPACE}
")
