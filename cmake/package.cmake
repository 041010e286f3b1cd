# package.cmake: the libraries for other projects. Each combines some layers:
#
#   eventq::client   a queue on a server, over HTTP
#   eventq::core     the embedded queue (sqlite: and memory:), PostgreSQL, and all of eventq::client
#   eventq::worker   runs handlers on the events of any of these
#   eventq::server   serves the HTTP API and the dashboard of the embedded queue
#
# A project that uses add_subdirectory() gets the same targets. Install rules exist only when eventq is the
# top-level project.

include(GNUInstallDirs)
foreach(name IN ITEMS fmt PostgreSQL simdjson spdlog SQLite3 Threads)
  find_package(${name} REQUIRED)
endforeach()

# eventq_package(<component> NAME <library> LAYERS <target>... LIBRARIES <library that users must link>...)
function(eventq_package component)
  cmake_parse_arguments(arg "" "NAME" "LAYERS;LIBRARIES" ${ARGN})
  set(target eventq_package_${component})
  list(TRANSFORM arg_LAYERS REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>" OUTPUT_VARIABLE objects)
  add_library(${target} STATIC ${objects})
  add_library(eventq::${component} ALIAS ${target})
  set_target_properties(${target} PROPERTIES
    EXPORT_NAME ${component} OUTPUT_NAME ${arg_NAME} LINKER_LANGUAGE CXX)
  target_include_directories(${target} INTERFACE
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_features(${target} INTERFACE cxx_std_20)
  target_link_libraries(${target} INTERFACE ${arg_LIBRARIES})
endfunction()

eventq_package(client NAME eventq-client
  LAYERS eventq_base eventq_model eventq_wire eventq_client
  LIBRARIES fmt::fmt simdjson::simdjson spdlog::spdlog xxhash Threads::Threads)
eventq_package(core NAME eventq
  LAYERS eventq_store eventq_command eventq_wait eventq_core eventq_engine eventq_retention eventq_shards eventq_queue
  LIBRARIES eventq_package_client SQLite::SQLite3 PostgreSQL::PostgreSQL deflate)
eventq_package(worker NAME eventq-worker
  LAYERS eventq_worker
  LIBRARIES eventq_package_client)
eventq_package(server NAME eventq-server
  LAYERS eventq_http eventq_serve
  LIBRARIES eventq_package_core)

if(NOT PROJECT_IS_TOP_LEVEL)
  return()
endif()

set(cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/eventq)
install(TARGETS eventq RUNTIME)
install(TARGETS eventq_package_client eventq_package_core eventq_package_worker eventq_package_server
  EXPORT eventqTargets ARCHIVE)
install(DIRECTORY include/eventq TYPE INCLUDE)
install(FILES LICENSE README.md TYPE DOC)
install(EXPORT eventqTargets NAMESPACE eventq:: DESTINATION ${cmake_dir})

include(CMakePackageConfigHelpers)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/eventqConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES cmake/eventqConfig.cmake ${PROJECT_BINARY_DIR}/eventqConfigVersion.cmake DESTINATION ${cmake_dir})

# Each .pc file computes its prefix from its own location, so that the installed tree can be moved.
set(pc_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH up_to_prefix /prefix/${pc_dir} /prefix)
foreach(name IN ITEMS eventq eventq-client eventq-worker eventq-server)
  configure_file(cmake/${name}.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${pc_dir})
endforeach()

# Installs the output of the program itself: manual page and shell completions.
function(eventq_install_printed file destination) # <arguments>...
  set(path ${PROJECT_BINARY_DIR}/printed/${file})
  add_custom_command(OUTPUT ${path} COMMAND eventq ${ARGN} > ${path} DEPENDS eventq VERBATIM
    COMMENT "Printing ${file}")
  add_custom_target(eventq_printed_${file} ALL DEPENDS ${path})
  install(FILES ${path} DESTINATION ${destination})
endfunction()
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/printed)
eventq_install_printed(eventq.1 ${CMAKE_INSTALL_MANDIR}/man1 man)
eventq_install_printed(eventq ${CMAKE_INSTALL_DATADIR}/bash-completion/completions completion bash)
eventq_install_printed(_eventq ${CMAKE_INSTALL_DATADIR}/zsh/site-functions completion zsh)
eventq_install_printed(eventq.fish ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d completion fish)
