-- read_failures.sql: causes of failure, the most frequent first. ?1 is a queue, or null for all.
SELECT f.queue, f.cause, f.n,
       (SELECT min(updated_at) FROM event_archive
         WHERE status = 'FAILED' AND queue = f.queue AND cause = f.cause),
       (SELECT max(updated_at) FROM event_archive
         WHERE status = 'FAILED' AND queue = f.queue AND cause = f.cause),
       (SELECT id FROM event_archive
         WHERE status = 'FAILED' AND queue = f.queue AND cause = f.cause
         ORDER BY updated_at DESC, id DESC LIMIT 1)
  FROM failure_cause AS f
 WHERE f.n > 0 AND (?1 IS NULL OR f.queue = ?1)
 ORDER BY f.n DESC, f.queue, f.cause
 LIMIT ?2;
