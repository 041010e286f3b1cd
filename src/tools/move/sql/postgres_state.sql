-- postgres_state.sql: a text that changes with every publish, claim, report or change of a queue.
SELECT concat_ws(' ', (SELECT last_value FROM eventq.event_number), (SELECT last_value FROM eventq.log_number),
                 (SELECT coalesce(sum(updated_at), 0) FROM eventq.event_queue),
                 (SELECT coalesce(sum(updated_at), 0) FROM eventq.stored_queue),
                 (SELECT count(*) FROM eventq.event_body))
