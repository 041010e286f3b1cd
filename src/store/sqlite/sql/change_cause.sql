-- change_cause.sql: adds ?3 to the count of FAILED events with one cause.
INSERT INTO failure_cause (queue, cause, n) VALUES (?1, ?2, ?3)
    ON CONFLICT (queue, cause) DO UPDATE SET n = n + excluded.n;
