-- count_requested.sql: how many checkpoints of a queue callers made.
SELECT count(*)::bigint FROM eventq.stored_checkpoint WHERE queue_id = $1 AND requested = 1;
