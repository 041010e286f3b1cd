# count_tests.awk: what `./dev test` says at its end, from what ctest printed and from its LastTest.log.
#
# Prints "passed N" for each program that counts its tests, and "failed NAME" for each of them that failed. A program
# that counts nothing is one test.

# What ctest printed: those that did not pass, as "  12 - NAME (Timeout)".
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
