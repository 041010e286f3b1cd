-- result_without_end.sql: results of events that no worker completed.
SELECT 'event ' || r.id || ' has a result, but no worker completed it'
  FROM event_result AS r
  LEFT JOIN event_archive AS a ON a.id = r.id AND a.status IN ('COMPLETED', 'COMPLETED_WITH_ERRORS')
 WHERE a.id IS NULL;
