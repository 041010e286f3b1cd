-- sqlite_state.sql: a text that changes with every publish, claim, report or change of a queue.
SELECT (SELECT last FROM id_sequence WHERE name = 'event') || ' ' ||
       (SELECT last FROM id_sequence WHERE name = 'log') || ' ' ||
       (SELECT coalesce(sum(updated_at), 0) FROM event_queue) || ' ' ||
       (SELECT coalesce(sum(updated_at), 0) FROM stored_queue) || ' ' ||
       (SELECT count(*) FROM event_body);
