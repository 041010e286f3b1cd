-- insert_archive.sql: events that have ended.
INSERT INTO eventq.event_archive (id, status, attempts, retry_count, unreported, worker_id, updated_at, picked_at,
                                  queue, holds_line, superseded_by, cause)
SELECT * FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::text[], $7::bigint[],
                     $8::bigint[], $9::text[], $10::bigint[], $11::bigint[], $12::text[])
