-- next_due.sql: the moment when the next event outside the ready index comes due, or null; looks from $1 on. And the
-- microseconds that it took.
SELECT (SELECT due_at
          FROM eventq.event_queue
         WHERE ready = 0 AND due_at >= $1
         ORDER BY due_at
         LIMIT 1),
       (extract(epoch FROM clock_timestamp() - statement_timestamp()) * 1000000)::bigint
