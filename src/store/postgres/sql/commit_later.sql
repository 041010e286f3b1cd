-- commit_later.sql: COMMIT does not wait for the disk. The next commit that waits flushes this one, too.
SET LOCAL synchronous_commit = off
