-- 0005_worker_asks.sql: what workers ask for, and when they signed off, so that a worker's state outlives a restart.

CREATE TABLE worker_ask (
  worker_id TEXT NOT NULL,
  queue     TEXT NOT NULL,
  tags      TEXT NOT NULL,                           -- with commas between; empty: any tag
  asked_at  INTEGER NOT NULL,                        -- the last time, give or take a third of stale_after
  PRIMARY KEY (worker_id, queue, tags)
) STRICT, WITHOUT ROWID;

-- Requests from before that time do not count any more.
CREATE TABLE worker_sign_off (
  worker_id     TEXT PRIMARY KEY,
  signed_off_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
