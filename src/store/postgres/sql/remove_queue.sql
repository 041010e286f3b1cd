-- remove_queue.sql: deletes a queue and its counters. Its checkpoints refer to its row, so they are deleted with it.
WITH recovery AS (
  DELETE FROM eventq.queue_recovery WHERE queue = $1
), totals AS (
  DELETE FROM eventq.queue_total WHERE queue = $1
), counts AS (
  DELETE FROM eventq.event_count WHERE queue = $1
), causes AS (
  DELETE FROM eventq.failure_cause WHERE queue = $1
)
DELETE FROM eventq.stored_queue WHERE id = $1
