-- delete_body.sql: deletes the bodies of removed events.
DELETE FROM eventq.event_body WHERE id = ANY ($1::bigint[])
