# embedded_worker_test.cmake: runs the program twice on one fresh file and compares what it prints.

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
published event 1 (Send welcome mail)
published event 2 (Charge card)
published event 3 (Send receipt)
completed event 1 (Send welcome mail) at attempt 1
failed event 2 (Charge card): the bank does not answer; it will be tried again
completed event 2 (Charge card) at attempt 2
completed event 3 (Send receipt) at attempt 1
nothing left to do
")
expect_output("\
published event 4 (Send welcome mail)
published event 5 (Charge card)
published event 6 (Send receipt)
completed event 4 (Send welcome mail) at attempt 1
failed event 5 (Charge card): the bank does not answer; it will be tried again
completed event 5 (Charge card) at attempt 2
completed event 6 (Send receipt) at attempt 1
nothing left to do
")
