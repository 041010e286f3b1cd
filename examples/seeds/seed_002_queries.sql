-- seed_002_queries.sql: questions about queues, written from seed 002 alone. They are the same on SQLite and PostgreSQL.
--
-- Lines 167 to 178 of the seed: "Table: event_queue_state", with id, events, checkpoint_id, queue_metrics, config, status,
-- created_at, updated_at. Lines 180 to 188: "Table: queue_checkpoints", with id, queue_id, checkpoint_id, event_count,
-- created_at. Lines 20 to 55: the members of events, queue_metrics and config. Lines 192 to 195: what the indexes are for.

-- For quick queue lookup (192).
SELECT id, status, checkpoint_id FROM event_queue_state WHERE id = 'main-queue';

-- For finding queues by status (193).
SELECT id FROM event_queue_state WHERE status = 'paused' ORDER BY id;

-- The serialized events (20-31).
SELECT events -> 0 ->> 'eventId', events -> 0 ->> 'pattern', events -> 0 ->> 'version', events -> 0 ->> 'timestamp'
  FROM event_queue_state WHERE id = 'main-queue';

SELECT events -> 0 -> 'source' ->> 'type', events -> 0 -> 'source' ->> 'id', events -> 0 -> 'source' ->> 'name',
       events -> 0 -> 'payload' ->> 'invoice_id'
  FROM event_queue_state WHERE id = 'main-queue';

-- Their metadata (32-39): why an event is late.
SELECT events -> 1 ->> 'eventId', events -> 1 -> 'metadata' ->> 'correlationId', events -> 1 -> 'metadata' ->> 'retryCount',
       events -> 1 -> 'metadata' ->> 'lastError'
  FROM event_queue_state
 WHERE id = 'main-queue' AND events -> 1 -> 'metadata' ->> 'lastErrorTime' IS NOT NULL;

-- The runtime metrics (44-47).
SELECT queue_metrics ->> 'totalProcessed', queue_metrics ->> 'totalErrors', queue_metrics ->> 'avgProcessingTimeMs'
  FROM event_queue_state WHERE id = 'main-queue';

-- The configuration (49-54), also of a queue that nothing was configured for.
SELECT id, config ->> 'maxQueueDepth', config ->> 'batchSize', config ->> 'processingInterval',
       config ->> 'persistenceThreshold', config ->> 'highWatermark'
  FROM event_queue_state WHERE id IN ('main-queue', 'side-queue') ORDER BY id;

-- Timestamps (177-178) can be compared.
SELECT id FROM event_queue_state
 WHERE created_at <= updated_at AND updated_at > '2024-03-15' AND id IN ('main-queue', 'side-queue') ORDER BY id;

-- For finding checkpoints by queue (194).
SELECT DISTINCT c.queue_id, c.checkpoint_id, c.event_count, q.status
  FROM queue_checkpoints AS c JOIN event_queue_state AS q ON q.id = c.queue_id
 WHERE c.queue_id = 'main-queue' AND q.checkpoint_id = c.checkpoint_id;

-- For time-based checkpoint queries (195).
SELECT min(event_count), max(event_count) FROM queue_checkpoints WHERE created_at >= '2024-03-15' AND queue_id = 'main-queue';
