-- begin_read.sql: all statements read the same snapshot.
BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
