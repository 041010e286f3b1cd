-- read_version.sql: the number of the newest migration in this file.
PRAGMA user_version;
