-- add_failed_hour.sql: adds to the count of events that failed for good in hour ?1.
INSERT INTO failed_hour (hour, n) VALUES (?1, ?2)
    ON CONFLICT (hour) DO UPDATE SET n = n + excluded.n;
