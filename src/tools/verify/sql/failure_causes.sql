-- failure_causes.sql: causes of failure whose counters differ from the failed events.
WITH wanted AS (
  SELECT queue, cause, count(*) AS n
    FROM event_archive WHERE status = 'FAILED' GROUP BY queue, cause)
SELECT 'queue ' || queue || ' has ' || n || ' failed events with the cause ' || coalesce(cause, '(none)')
       || ', but its counter differs'
  FROM (SELECT * FROM wanted EXCEPT SELECT queue, cause, n FROM failure_cause)
 UNION ALL
SELECT 'queue ' || queue || ' counts ' || n || ' failed events with the cause ' || cause
       || ', but its rows are not as many'
  FROM (SELECT queue, cause, n FROM failure_cause WHERE n <> 0 EXCEPT SELECT * FROM wanted);
