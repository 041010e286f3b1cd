-- postgres_priority.sql: of the body of a row that is written.
(SELECT b.priority FROM eventq.event_body AS b WHERE b.id = rows.id)
