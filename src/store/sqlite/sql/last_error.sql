-- last_error.sql: the message of an event's last failure that has one. A failure for want of attempts has a reason instead.
SELECT coalesce(nullif(error_message, ''), reason)
  FROM event_log
 WHERE event_id = ?1 AND action = 'FAILED' AND (error_message <> '' OR reason <> '')
 ORDER BY id DESC
 LIMIT 1;
