-- schema.sql: notebooks, their files, journal and commits; schema version 3.
--
-- Times are milliseconds since 1970, UTC. Paths are compared byte by byte.

CREATE TABLE notebook (
  id                   INTEGER PRIMARY KEY AUTOINCREMENT,
  name                 TEXT NOT NULL UNIQUE,
  path                 TEXT NOT NULL UNIQUE,
  poll_interval        INTEGER NOT NULL,              -- milliseconds, as the other intervals
  batch_size           INTEGER NOT NULL,
  git_commit_interval  INTEGER NOT NULL,
  git_commit_max_files INTEGER NOT NULL,
  max_retries          INTEGER NOT NULL,
  retry_backoff        INTEGER NOT NULL,
  completed_retention  INTEGER NOT NULL,              -- seconds
  failed_retention     INTEGER NOT NULL,              -- seconds
  created_at           INTEGER NOT NULL,
  git_head             TEXT,                          -- last seen commit of HEAD; empty: no commit; null: never seen
  git_index            TEXT,                          -- commit that the index last followed; null: up to date
  git_bypass_filters   TEXT NOT NULL DEFAULT '',      -- names of git filters, by commas
  git_nested           INTEGER NOT NULL DEFAULT 0,
  max_file_size        INTEGER NOT NULL DEFAULT 104857600,
  deleted_retention    INTEGER NOT NULL DEFAULT 2592000,  -- seconds
  portable_names       INTEGER NOT NULL DEFAULT 1,
  imported             INTEGER NOT NULL DEFAULT 0     -- 1: the files that it began with are recorded
) STRICT;

-- Files and folders. An id is never reused.
CREATE TABLE file (
  id           INTEGER PRIMARY KEY AUTOINCREMENT,
  notebook     INTEGER NOT NULL REFERENCES notebook (id),
  folder       INTEGER NOT NULL CHECK (folder IN (0, 1)),
  path         TEXT NOT NULL,
  inode        INTEGER NOT NULL,                      -- 64 bits, as a signed number
  size         INTEGER NOT NULL,
  modified_ns  INTEGER NOT NULL,
  executable   INTEGER NOT NULL CHECK (executable IN (0, 1)),
  hash         TEXT NOT NULL,
  content_type TEXT NOT NULL,
  title        TEXT,
  description  TEXT,
  extra        TEXT NOT NULL,                         -- JSON object; empty: none
  updated_at   INTEGER NOT NULL,
  event_id     TEXT NOT NULL,
  git          TEXT NOT NULL DEFAULT ''               -- why git does not have the content; empty: no reason known
) STRICT;
CREATE UNIQUE INDEX file_path ON file (notebook, path);
CREATE INDEX file_case ON file (notebook, lower(path));
CREATE INDEX file_size ON file (notebook, folder, size);  -- covers counts.sql
CREATE INDEX file_git ON file (notebook, git, path) WHERE git <> '';
INSERT INTO sqlite_sequence (name, seq) VALUES ('file', 0);  -- next_file_id.sql needs the row

-- Ids that were promised to files whose creation has not been applied. The id of a creation that failed
-- stays: its event may be reset.
CREATE TABLE reserved_file (
  id       INTEGER PRIMARY KEY,
  notebook INTEGER NOT NULL REFERENCES notebook (id)
) STRICT;
CREATE INDEX file_hash ON file (notebook, hash, inode);   -- finds where a returning file was

-- Deleted files, for deleted_retention: a file that returns gets its id and metadata back. Columns as in `file`.
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

-- The journal: steps of running operations. After a crash they are undone in reverse order.
CREATE TABLE step (
  notebook    INTEGER NOT NULL REFERENCES notebook (id),
  number      INTEGER NOT NULL,
  kind        INTEGER NOT NULL CHECK (kind BETWEEN 0 AND 3),  -- make_folder, rename, exchange, remove_folder
  from_path   TEXT NOT NULL,
  to_path     TEXT NOT NULL,
  inode       INTEGER NOT NULL,
  size        INTEGER NOT NULL,
  modified_ns INTEGER NOT NULL,
  executable  INTEGER NOT NULL,
  PRIMARY KEY (notebook, number)
) STRICT, WITHOUT ROWID;

-- Applied events whose report the queue may not have received.
CREATE TABLE applied (
  notebook INTEGER NOT NULL REFERENCES notebook (id),
  event    INTEGER NOT NULL,
  PRIMARY KEY (notebook, event)
) STRICT, WITHOUT ROWID;

-- Changes that no git commit contains yet, in the order they were made.
CREATE TABLE pending (
  number         INTEGER PRIMARY KEY AUTOINCREMENT,
  notebook       INTEGER NOT NULL REFERENCES notebook (id),
  path           TEXT NOT NULL,
  event_id       TEXT NOT NULL,
  correlation_id TEXT NOT NULL,
  since          INTEGER NOT NULL
) STRICT;
CREATE INDEX pending_number ON pending (notebook, number);
CREATE INDEX pending_path ON pending (notebook, path, since);

CREATE TABLE git_commit (
  number   INTEGER PRIMARY KEY AUTOINCREMENT,
  notebook INTEGER NOT NULL REFERENCES notebook (id),
  hash     TEXT NOT NULL,
  message  TEXT NOT NULL,                             -- the first line
  made_at  INTEGER NOT NULL,
  files    INTEGER NOT NULL
) STRICT;
CREATE INDEX git_commit_number ON git_commit (notebook, number);

CREATE TABLE git_commit_event (
  git_commit INTEGER NOT NULL REFERENCES git_commit (number),
  position   INTEGER NOT NULL,
  notebook   INTEGER NOT NULL,
  event_id   TEXT NOT NULL,
  PRIMARY KEY (git_commit, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX git_commit_event_id ON git_commit_event (notebook, event_id, git_commit);

-- 0x4576516e is "EvQn".
PRAGMA application_id = 1165381998;
PRAGMA user_version = 3;
