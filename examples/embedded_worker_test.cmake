# embedded_worker_test.cmake: runs the program twice on one fresh file and compares its output.

file(REMOVE_RECURSE ${DIRECTORY})
file(MAKE_DIRECTORY ${DIRECTORY})

# Runs the program once; it publishes events with these three ids.
function(expect_output mail order receipt)
  set(expected "\
published event ${mail} (Welcome)
published event ${order} (Order)
published event ${receipt} (Receipt)
mailed for event ${mail} (Welcome)
could not charge for event ${order} (Order)
charged for event ${order} (Order) at attempt 2
mailed for event ${receipt} (Receipt)
3 completed, 1 failed and retried
")
  execute_process(COMMAND ${PROGRAM} events.db WORKING_DIRECTORY ${DIRECTORY}
    OUTPUT_VARIABLE output ERROR_VARIABLE errors RESULT_VARIABLE status)
  if(NOT status EQUAL 0 OR NOT output STREQUAL expected)
    message(FATAL_ERROR "status ${status}, printed:\n${output}${errors}\nexpected:\n${expected}")
  endif()
endfunction()

expect_output(1 2 3)
expect_output(4 5 6)
