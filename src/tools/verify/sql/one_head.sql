-- one_head.sql: lines that do not have exactly one head.
SELECT 'line ' || queue || ' ' || ordering_key || ' has ' || sum(head) || ' heads'
  FROM event_line GROUP BY queue, ordering_key HAVING sum(head) <> 1;
