-- begin.sql: takes the write lock at once, so that no later statement of the transaction can fail with SQLITE_BUSY.
BEGIN IMMEDIATE;
