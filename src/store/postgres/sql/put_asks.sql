-- put_asks.sql: stores when workers asked for which events.
INSERT INTO eventq.worker_ask AS a SELECT * FROM unnest($1::eventq.worker_ask[])
    ON CONFLICT (worker_id, queue, tags) DO UPDATE
   SET asked_at = greatest(a.asked_at, excluded.asked_at);
