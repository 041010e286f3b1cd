-- insert_live.sql: the state of events that are new or came back from the archive.
INSERT INTO eventq.event_queue (id, status, attempts, retry_count, unreported, worker_id, due_at, ready, updated_at,
                                turn, picked_at, queue, priority)
SELECT * FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::text[], $7::bigint[],
                     $8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[], $12::text[], $13::bigint[])
