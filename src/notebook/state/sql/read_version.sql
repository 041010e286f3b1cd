-- read_version.sql: the schema version; 0 in a new file.
PRAGMA user_version;
