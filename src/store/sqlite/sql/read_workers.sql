-- read_workers.sql: all stored workers.
SELECT id, first_seen, last_seen, completed, failed FROM worker;
