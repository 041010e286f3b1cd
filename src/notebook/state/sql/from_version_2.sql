-- from_version_2.sql: migrates a file of schema version 2.
ALTER TABLE notebook ADD COLUMN git_bypass_filters TEXT NOT NULL DEFAULT '';
ALTER TABLE notebook ADD COLUMN git_nested INTEGER NOT NULL DEFAULT 0;
ALTER TABLE notebook ADD COLUMN max_file_size INTEGER NOT NULL DEFAULT 104857600;
ALTER TABLE notebook ADD COLUMN deleted_retention INTEGER NOT NULL DEFAULT 2592000;
ALTER TABLE notebook ADD COLUMN portable_names INTEGER NOT NULL DEFAULT 1;
ALTER TABLE file ADD COLUMN git TEXT NOT NULL DEFAULT '';
CREATE INDEX file_git ON file (notebook, git, path) WHERE git <> '';
INSERT INTO sqlite_sequence (name, seq)
SELECT 'file', 0 WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'file');
CREATE INDEX file_case ON file (notebook, lower(path));
CREATE TABLE reserved_file (
  id       INTEGER PRIMARY KEY,
  notebook INTEGER NOT NULL REFERENCES notebook (id)
) STRICT;
PRAGMA user_version = 3;
