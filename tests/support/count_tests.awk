# count_tests.awk: counts tests for the last line of `./dev test`, from ctest's output and its LastTest.log.
#
# Prints "passed N" for each process and "failed NAME" for each failed test. A process that prints no counts, such as
# a Python script, is one test.

# ctest's output lists the tests that did not pass as "  12 - NAME (Timeout)".
FILENAME == ARGV[1] {
  if (/^[ \t]+[0-9]+ - .* \([A-Za-z ]+\)$/) {
    name = $0
    sub(/^[ \t]+[0-9]+ - /, "", name)
    sub(/ \([A-Za-z ]+\)$/, "", name)
    reason[name] = /\((Skipped|Disabled)\)$/ ? "skipped" : "failed"
  }
  next
}

/^[0-9]+\/[0-9]+ Test: / {
  test = $0
  sub(/^[0-9]+\/[0-9]+ Test: /, "", test)
  passed = failures = counts = 0
}
/^\[  PASSED  \] [0-9]+ tests?\.$/ { passed = $4; counts = 1 }
/^\[  FAILED  \] .* \([0-9]+ ms\)$/ {
  sub(/^\[  FAILED  \] /, "")
  sub(/(, where .*)? \([0-9]+ ms\)$/, "")
  print "failed", $0
  ++failures
}
/^Test (Passed|Failed)\.$/ {
  if (reason[test] == "failed" && !failures) print "failed", test
  if (reason[test] == "") print "passed", counts ? passed : 1
  else if (counts && failures) print "passed", passed
}
