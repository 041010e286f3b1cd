-- counted.sql: counters that no events account for.
SELECT 'counted as ' || queue || ' ' || status || ': ' || n
  FROM (SELECT queue, status, n FROM event_count WHERE n <> 0
        EXCEPT
        SELECT queue, status, count(*) FROM event GROUP BY queue, status);
