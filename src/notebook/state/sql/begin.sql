-- begin.sql: take the write lock at once, so that no later statement can fail for want of it.
BEGIN IMMEDIATE;
