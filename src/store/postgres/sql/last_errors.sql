-- last_errors.sql: the message of the last failure of each of the events $1 that has one. A failure for want of attempts has
-- a reason instead.
SELECT DISTINCT ON (event_id) event_id, coalesce(nullif(error_message, ''), reason)
  FROM eventq.event_log
 WHERE event_id = ANY ($1::bigint[]) AND action = 'FAILED' AND (error_message <> '' OR reason <> '')
 ORDER BY event_id, id DESC;
