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
ALTER TABLE notebook ADD COLUMN imported INTEGER NOT NULL DEFAULT 0;
UPDATE notebook SET imported = 1;
CREATE INDEX file_hash ON file (notebook, hash, inode);
CREATE TABLE gone (
  id           INTEGER PRIMARY KEY,
  notebook     INTEGER NOT NULL REFERENCES notebook (id),
  path         TEXT NOT NULL,
  inode        INTEGER NOT NULL,
  size         INTEGER NOT NULL,
  modified_ns  INTEGER NOT NULL,
  executable   INTEGER NOT NULL,
  hash         TEXT NOT NULL,
  content_type TEXT NOT NULL,
  title        TEXT,
  description  TEXT,
  extra        TEXT NOT NULL,
  updated_at   INTEGER NOT NULL,
  event_id     TEXT NOT NULL,
  gone_at      INTEGER NOT NULL
) STRICT;
CREATE INDEX gone_path ON gone (notebook, path, gone_at);
CREATE INDEX gone_hash ON gone (notebook, hash, gone_at);
CREATE INDEX gone_time ON gone (notebook, gone_at);
PRAGMA user_version = 3;
