-- one_head.sql: lines without a head, or with several.
SELECT 'line ' || queue || ' ' || ordering_key || ' has ' || sum(head) || ' heads'
  FROM event_line GROUP BY queue, ordering_key HAVING sum(head) <> 1;
