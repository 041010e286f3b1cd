-- checkpoint_without_queue.sql: checkpoints of queues that do not exist.
SELECT 'checkpoint ' || id || ' belongs to the queue ' || queue_id || ', which does not exist'
  FROM stored_checkpoint WHERE queue_id NOT IN (SELECT id FROM stored_queue);
