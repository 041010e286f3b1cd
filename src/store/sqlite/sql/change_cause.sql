-- change_cause.sql: FAILED events of one cause come or go.
INSERT INTO failure_cause (queue, cause, n) VALUES (?1, ?2, ?3)
    ON CONFLICT (queue, cause) DO UPDATE SET n = n + excluded.n;
