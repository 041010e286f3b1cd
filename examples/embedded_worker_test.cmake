# embedded_worker_test.cmake: runs the program twice on one fresh file and compares its output.

file(REMOVE_RECURSE ${DIRECTORY})
file(MAKE_DIRECTORY ${DIRECTORY})

function(expect_output expected)
  execute_process(COMMAND ${PROGRAM} events.db WORKING_DIRECTORY ${DIRECTORY}
    OUTPUT_VARIABLE output ERROR_VARIABLE errors RESULT_VARIABLE status)
  if(NOT status EQUAL 0 OR NOT output STREQUAL expected)
    message(FATAL_ERROR "status ${status}, printed:\n${output}${errors}\nexpected:\n${expected}")
  endif()
endfunction()

expect_output("\
published event 1 (Welcome)
published event 2 (Order)
published event 3 (Receipt)
mailed for event 1 (Welcome)
could not charge for event 2 (Order)
charged for event 2 (Order) at attempt 2
mailed for event 3 (Receipt)
3 completed, 1 failed and retried
")
expect_output("\
published event 4 (Welcome)
published event 5 (Order)
published event 6 (Receipt)
mailed for event 4 (Welcome)
could not charge for event 5 (Order)
charged for event 5 (Order) at attempt 2
mailed for event 6 (Receipt)
3 completed, 1 failed and retried
")
