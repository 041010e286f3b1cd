-- insert_supersede.sql: pending events that a newer one may supersede.
INSERT INTO eventq.event_supersede (id, queue, supersede_key)
SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[])
