-- read_failed_hours.sql: all that are kept.
SELECT hour, sum(n)::bigint FROM eventq.failed_hour GROUP BY hour;
