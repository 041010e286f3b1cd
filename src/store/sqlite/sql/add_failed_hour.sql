-- add_failed_hour.sql: events that failed for good in one hour.
INSERT INTO failed_hour (hour, n) VALUES (?1, ?2)
    ON CONFLICT (hour) DO UPDATE SET n = n + excluded.n;
