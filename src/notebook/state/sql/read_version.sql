-- read_version.sql: of the schema; 0 in a new file.
PRAGMA user_version;
