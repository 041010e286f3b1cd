-- count_names.sql: how many names lock_names.sql would find in the bodies of the events $1, or a few less.
SELECT count(DISTINCT nullif(ordering_key, '')) + count(DISTINCT nullif(supersede_key, '')) +
       count(DISTINCT nullif(correlation_id, ''))
  FROM eventq.event_body
 WHERE id = ANY ($1::bigint[])
