-- failure_causes.sql: causes of failure whose counters differ from the failed events.
WITH wanted AS (
  SELECT queue, cause, count(*) AS n
    FROM event_archive WHERE status = 'FAILED' GROUP BY queue, cause)
SELECT 'failures not counted: ' || queue || ' ' || coalesce(cause, 'without a cause') || ': ' || n
  FROM (SELECT * FROM wanted EXCEPT SELECT queue, cause, n FROM failure_cause)
 UNION ALL
SELECT 'failures counted: ' || queue || ' ' || cause || ': ' || n
  FROM (SELECT queue, cause, n FROM failure_cause WHERE n <> 0 EXCEPT SELECT * FROM wanted);
