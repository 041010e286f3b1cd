-- delete_body.sql: removed events.
DELETE FROM eventq.event_body WHERE id = ANY ($1::bigint[])
