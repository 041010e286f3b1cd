-- change_count.sql: adds to the count of events in one status, once per queue, status and transaction.
INSERT INTO event_count (queue, status, n) VALUES (?1, ?2, ?3)
    ON CONFLICT (queue, status) DO UPDATE SET n = n + excluded.n;
