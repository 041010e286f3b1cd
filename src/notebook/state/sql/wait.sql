-- wait.sql: ten seconds for another connection that writes.
PRAGMA busy_timeout = 10000;
