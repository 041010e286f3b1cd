-- not_counted.sql: events that no counter counts.
SELECT 'queue ' || queue || ' ' || status || ' has ' || n || ' rows, but its counter differs'
  FROM (SELECT queue, status, count(*) AS n FROM event GROUP BY queue, status
        EXCEPT
        SELECT queue, status, n FROM event_count);
