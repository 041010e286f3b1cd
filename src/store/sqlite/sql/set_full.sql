-- set_full.sql: commits wait for the disk.
PRAGMA synchronous = FULL;
