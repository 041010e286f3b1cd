-- delete_supersede.sql: events that are pending no more.
DELETE FROM eventq.event_supersede AS s
 USING unnest($1::bigint[], $2::text[], $3::text[]) AS c (id, queue, supersede_key)
 WHERE s.queue = c.queue AND s.supersede_key = c.supersede_key AND s.id = c.id
