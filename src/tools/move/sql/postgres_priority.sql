-- postgres_priority.sql: the priority from the body of the row that is written.
(SELECT b.priority FROM eventq.event_body AS b WHERE b.id = rows.id)
