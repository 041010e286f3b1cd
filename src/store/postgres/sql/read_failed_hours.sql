-- read_failed_hours.sql: all counters of failed events by hour.
SELECT hour, sum(n)::bigint FROM eventq.failed_hour GROUP BY hour;
