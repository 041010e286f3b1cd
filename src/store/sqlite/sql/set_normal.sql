-- set_normal.sql: commits leave the disk out; see Connection::sync_log().
PRAGMA synchronous = NORMAL;
