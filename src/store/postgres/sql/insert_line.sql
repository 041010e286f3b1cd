-- insert_line.sql: events that take a place in line.
INSERT INTO eventq.event_line (id, queue, ordering_key, head)
SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[], $4::bigint[])
