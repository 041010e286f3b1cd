-- find_event.sql: events by their global ids.
SELECT event_id, id FROM eventq.event_body WHERE event_id = ANY ($1::text[])
