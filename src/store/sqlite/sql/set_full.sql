-- set_full.sql: every commit waits for the disk sync.
PRAGMA synchronous = FULL;
