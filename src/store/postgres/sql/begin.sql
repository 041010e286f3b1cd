-- begin.sql: each statement sees everything that was committed before it.
BEGIN ISOLATION LEVEL READ COMMITTED
