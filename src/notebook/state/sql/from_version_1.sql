-- from_version_1.sql: migrates a file of schema version 1.
ALTER TABLE notebook ADD COLUMN git_head TEXT;
ALTER TABLE notebook ADD COLUMN git_index TEXT;
PRAGMA user_version = 2;
