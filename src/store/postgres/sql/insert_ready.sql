-- insert_ready.sql: one row per tag of an event that may be claimed now.
INSERT INTO eventq.event_ready (id, queue, tag, priority, turn)
SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[], $4::bigint[], $5::bigint[])
