-- put_correlations.sql: inserts or replaces the counters of correlations.
INSERT INTO eventq.correlation SELECT * FROM unnest($1::eventq.correlation[])
    ON CONFLICT (id) DO UPDATE
   SET total = excluded.total, pending = excluded.pending, completed = excluded.completed, failed = excluded.failed,
       kept = excluded.kept, on_complete = excluded.on_complete, queue = excluded.queue;
