-- sqlite_state.sql: changes with everything that a server does.
SELECT (SELECT last FROM id_sequence WHERE name = 'event') || ' ' ||
       (SELECT last FROM id_sequence WHERE name = 'log') || ' ' ||
       (SELECT coalesce(sum(updated_at), 0) FROM event_queue) || ' ' ||
       (SELECT coalesce(sum(updated_at), 0) FROM event_queue_state) || ' ' ||
       (SELECT count(*) FROM event_body);
