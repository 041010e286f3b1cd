-- correlations.sql: correlations whose counters differ from their events. The totals still count removed events.
WITH rows AS (
  SELECT correlation_id AS id, count(*) AS kept, sum(status IN ('PENDING', 'PROCESSING')) AS pending,
         sum(status IN ('COMPLETED', 'COMPLETED_WITH_ERRORS')) AS completed,
         sum(status = 'FAILED') AS failed
    FROM event WHERE correlation_id <> '' GROUP BY correlation_id)
SELECT 'correlation ' || coalesce(r.id, c.id) || ' counts total, kept, pending, completed, failed '
       || coalesce(c.total, 0) || ' '
       || coalesce(c.kept, 0) || ' ' || coalesce(c.pending, 0) || ' ' || coalesce(c.completed, 0) || ' '
       || coalesce(c.failed, 0) || ', but its rows are kept, pending, completed, failed ' || coalesce(r.kept, 0) || ' '
       || coalesce(r.pending, 0) || ' ' || coalesce(r.completed, 0) || ' ' || coalesce(r.failed, 0)
  FROM (SELECT id FROM rows UNION SELECT id FROM correlation) AS k
  LEFT JOIN rows AS r ON r.id = k.id
  LEFT JOIN correlation AS c ON c.id = k.id
 WHERE r.id IS NULL OR c.id IS NULL OR c.kept <> r.kept OR c.pending <> r.pending
    OR c.total < c.kept OR c.completed < r.completed OR c.failed < r.failed
    OR (c.total = c.kept AND (c.completed <> r.completed OR c.failed <> r.failed));
