-- not_counted.sql: events that no counter counts.
SELECT 'not counted: ' || queue || ' ' || status || ': ' || n
  FROM (SELECT queue, status, count(*) AS n FROM event GROUP BY queue, status
        EXCEPT
        SELECT queue, status, n FROM event_count);
