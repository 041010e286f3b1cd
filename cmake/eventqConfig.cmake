# eventqConfig.cmake: find_package(eventq COMPONENTS core client worker server). Without COMPONENTS, all four
# are found. Only `core` and `server`, which contains it, need SQLite and libpq.
include(CMakeFindDependencyMacro)
if(NOT eventq_FIND_COMPONENTS)
  set(eventq_FIND_COMPONENTS core client worker server)
endif()

find_dependency(Threads)
find_dependency(fmt)
find_dependency(simdjson)
find_dependency(spdlog)
if("core" IN_LIST eventq_FIND_COMPONENTS OR "server" IN_LIST eventq_FIND_COMPONENTS)
  find_dependency(SQLite3)
  find_dependency(PostgreSQL)
endif()

include(${CMAKE_CURRENT_LIST_DIR}/eventqTargets.cmake)

foreach(component IN LISTS eventq_FIND_COMPONENTS)
  if(TARGET eventq::${component})
    set(eventq_${component}_FOUND TRUE)
  elseif(eventq_FIND_REQUIRED_${component})
    set(eventq_FOUND FALSE)
    set(eventq_NOT_FOUND_MESSAGE "eventq has no component \"${component}\"; it has core, client, worker and server.")
  endif()
endforeach()
