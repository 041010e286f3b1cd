-- set_normal.sql: commits skip the disk sync; see SqliteConnection::sync_log().
PRAGMA synchronous = NORMAL;
