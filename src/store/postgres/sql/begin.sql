-- begin.sql: each statement sees what others committed before it.
BEGIN ISOLATION LEVEL READ COMMITTED
