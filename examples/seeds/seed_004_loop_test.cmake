# seed_004_loop_test.cmake: runs the program on a fresh file and compares its output.

file(REMOVE_RECURSE ${DIRECTORY})
file(MAKE_DIRECTORY ${DIRECTORY})
set(expected "\
UserCreated, attempt 1: welcomed
PaymentReceived, attempt 1: not booked
cancelled: The pod is shut down.
no event before the timeout
ReportRequested, attempt 2: reported
Last, attempt 1: stop
no event is left
")
execute_process(COMMAND ${PROGRAM} events.db WORKING_DIRECTORY ${DIRECTORY}
  OUTPUT_VARIABLE output ERROR_VARIABLE errors RESULT_VARIABLE status)
if(NOT status EQUAL 0 OR NOT output STREQUAL expected)
  message(FATAL_ERROR "status ${status}, printed:\n${output}${errors}\nexpected:\n${expected}")
endif()
