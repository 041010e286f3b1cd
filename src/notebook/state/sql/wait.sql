-- wait.sql: waits up to ten seconds for another writer.
PRAGMA busy_timeout = 10000;
