-- next_due.sql: the moment when the next event outside the ready index comes due, or null; reads the index from $1
-- on. And how many index entries were read for nothing.
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
