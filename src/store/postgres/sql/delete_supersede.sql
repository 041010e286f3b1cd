-- delete_supersede.sql: events that are pending no more.
DELETE FROM eventq.event_supersede AS s
 USING unnest($1::eventq.event_supersede[]) AS c
 WHERE s.queue = c.queue AND s.supersede_key = c.supersede_key AND s.id = c.id
