-- begin.sql: takes the write lock at once, so that no later statement fails because another writer has it.
BEGIN IMMEDIATE;
