-- commit_later.sql: COMMIT does not wait for the disk; a later one that does takes this one along.
SET LOCAL synchronous_commit = off
