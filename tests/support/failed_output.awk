# failed_output.awk: prints the last 60 lines of each failed test from ctest's LastTest.log, for `./dev test`.

/^[0-9]+\/[0-9]+ Test: / {
  test = $0
  sub(/^[0-9]+\/[0-9]+ Test: /, "", test)
  lines = 0
}
{ line[lines++ % 60] = substr($0, 1, 400) }
/^Test Failed\.$/ {
  print "--", test
  for (i = lines > 60 ? lines - 60 : 0; i < lines; ++i) print line[i % 60]
}
