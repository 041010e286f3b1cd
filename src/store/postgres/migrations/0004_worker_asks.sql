-- 0004_worker_asks.sql: what workers ask for, and when they signed off, so that all servers give the same state of a worker.
-- A server of the version before writes neither, so workers that ask only such a server are listed as gone unless they
-- hold an event.

CREATE TABLE eventq.worker_ask (
  worker_id text COLLATE "C" NOT NULL,
  queue     text COLLATE "C" NOT NULL,
  tags      text COLLATE "C" NOT NULL,                 -- with commas between; empty: any tag
  asked_at  bigint NOT NULL,                           -- the last time, give or take a third of stale_after
  PRIMARY KEY (worker_id, queue, tags)
) WITH (fillfactor = 50);

-- Requests from before that time do not count any more.
CREATE TABLE eventq.worker_sign_off (
  worker_id     text COLLATE "C" PRIMARY KEY,
  signed_off_at bigint NOT NULL
);
