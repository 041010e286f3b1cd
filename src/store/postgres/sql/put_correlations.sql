-- put_correlations.sql: new counters.
INSERT INTO eventq.correlation (id, total, pending, completed, failed, kept, on_complete, queue)
SELECT * FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::text[],
                     $8::text[])
    ON CONFLICT (id) DO UPDATE
   SET total = excluded.total, pending = excluded.pending, completed = excluded.completed, failed = excluded.failed,
       kept = excluded.kept, on_complete = excluded.on_complete, queue = excluded.queue;
