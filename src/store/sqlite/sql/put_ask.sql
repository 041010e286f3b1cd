-- put_ask.sql: worker ?1 asked for events of queue ?2 with tags ?3 at ?4.
INSERT INTO worker_ask (worker_id, queue, tags, asked_at)
VALUES (?1, ?2, ?3, ?4)
    ON CONFLICT (worker_id, queue, tags) DO UPDATE
   SET asked_at = max(asked_at, excluded.asked_at);
