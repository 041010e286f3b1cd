-- event_columns.sql: the columns of an event row, for every statement of this store that returns one.
--
-- A statement names a fragment as {{name}}; cmake/embed.cmake puts its text there when it embeds the statement. The
-- order is that of EventColumn in store/columns.h, and a test compares the two. Aliases of tables: b is event_body; s
-- is the one table that has the state; where both may have it, q is event_queue and a is event_archive.

--: state_of_live
-- The fields that rules read (EventFields::state), of a live event.
       b.id, b.queue, b.tags, b.priority, b.max_retries, b.created_at,
       s.status, s.attempts, s.retry_count, s.unreported, s.worker_id, s.due_at, s.updated_at, s.ready,
       b.correlation_id, b.ordering_key, b.supersede_key, b.retry, s.turn, s.picked_at, NULL AS superseded_by,
       NULL AS cause, 0 AS holds_line, b.event_id

--: state_of_archived
-- The same fields of an archived event, which has no turn and no due time.
       b.id, b.queue, b.tags, b.priority, b.max_retries, b.created_at,
       s.status, s.attempts, s.retry_count, s.unreported, s.worker_id, s.updated_at AS due_at, s.updated_at,
       0 AS ready,
       b.correlation_id, b.ordering_key, b.supersede_key, b.retry, b.id AS turn, s.picked_at, s.superseded_by,
       s.cause, s.holds_line, b.event_id

--: state_of_any
-- The same fields of an event that is in either table.
       b.id, b.queue, b.tags, b.priority, b.max_retries, b.created_at,
       coalesce(q.status, a.status) AS status, coalesce(q.attempts, a.attempts) AS attempts,
       coalesce(q.retry_count, a.retry_count) AS retry_count, coalesce(q.unreported, a.unreported) AS unreported,
       coalesce(q.worker_id, a.worker_id) AS worker_id, coalesce(q.due_at, a.updated_at) AS due_at,
       coalesce(q.updated_at, a.updated_at) AS updated_at, coalesce(q.ready, 0) AS ready,
       b.correlation_id, b.ordering_key, b.supersede_key, b.retry, coalesce(q.turn, b.id) AS turn,
       coalesce(q.picked_at, a.picked_at) AS picked_at, a.superseded_by, a.cause,
       coalesce(a.holds_line, 0) AS holds_line, b.event_id

--: envelope
-- The fields that only the publisher and the worker read.
       b.title, b.sequence, b.timestamp, b.causation_id, b.trace_id, b.pattern, b.version,
       b.source_type, b.source_id, b.source_name, b.attributes

--: content
-- The fields that may be large.
       b.description, b.payload

--: no_content
-- Empty values in their positions, for lists, which leave them out.
       NULL AS description, NULL AS payload
