-- find_correlations.sql: the counters of the correlations $1 and of the correlations of the events $2.
SELECT id, total, pending, completed, failed, kept, on_complete, queue
  FROM eventq.correlation
 WHERE id = ANY ($1::text[] || ARRAY (SELECT DISTINCT correlation_id
                                        FROM eventq.event_body
                                       WHERE id = ANY ($2::bigint[])));
