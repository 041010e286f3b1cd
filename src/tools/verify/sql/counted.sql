-- counted.sql: counters that no events account for.
SELECT 'the counter of queue ' || queue || ' ' || status || ' is ' || n || ', but its rows are not as many'
  FROM (SELECT queue, status, n FROM event_count WHERE n <> 0
        EXCEPT
        SELECT queue, status, count(*) FROM event GROUP BY queue, status);
