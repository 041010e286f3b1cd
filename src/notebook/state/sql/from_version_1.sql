-- from_version_1.sql: brings a file of the first version up to date.
ALTER TABLE notebook ADD COLUMN git_head TEXT;
ALTER TABLE notebook ADD COLUMN git_index TEXT;
PRAGMA user_version = 2;
