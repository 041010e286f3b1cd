-- next_due.sql: the time when the next event outside the ready index is due, or null, and how many index entries were
-- read for nothing. Reads the index from $1 on.
WITH before AS MATERIALIZED (
  SELECT pg_stat_get_xact_tuples_returned('eventq.event_queue_due'::regclass) AS entries
), due AS MATERIALIZED (
  SELECT due_at
    FROM eventq.event_queue
   WHERE ready = 0 AND due_at >= $1
   ORDER BY due_at
   LIMIT 1
)
SELECT n.*
  FROM before
 CROSS JOIN LATERAL (SELECT min(due_at),
                            pg_stat_get_xact_tuples_returned('eventq.event_queue_due'::regclass) - before.entries
                              - count(*)
                       FROM due) AS n
