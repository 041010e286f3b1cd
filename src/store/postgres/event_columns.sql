-- event_columns.sql: the columns of an event row, for every statement of this store that returns one.
--
-- A statement names a fragment as {{name}}; cmake/embed.cmake puts its text there when it embeds the statement. The
-- order is that of EventColumn in store/columns.h, and a test compares the two. Aliases of tables: b is event_body; s
-- is the one table that has the state; where both may have it, q is event_queue and a is event_archive.

--: state_of_live
-- The fields that rules read (EventFields::state), of a live event.
       b.id, b.queue, b.tags, b.priority, b.max_retries, b.created_at,
       s.status, s.attempts, s.retry_count, s.unreported, s.worker_id, s.due_at, s.updated_at, s.ready,
       b.correlation_id, b.ordering_key, b.supersede_key, b.retry, s.turn, s.picked_at, NULL::bigint AS superseded_by,
       NULL::text AS cause, 0::bigint AS holds_line, b.event_id

--: state_of_archived
-- The same of an archived event. It keeps no turn and no due time.
       b.id, b.queue, b.tags, b.priority, b.max_retries, b.created_at,
       s.status, s.attempts, s.retry_count, s.unreported, s.worker_id, s.updated_at AS due_at, s.updated_at,
       0::bigint AS ready,
       b.correlation_id, b.ordering_key, b.supersede_key, b.retry, b.id AS turn, s.picked_at, s.superseded_by,
       s.cause, s.holds_line, b.event_id

--: state_of_any
-- The same of an event that is in one of the two tables.
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
-- Their positions, for lists, which leave them out.
       NULL::text AS description, NULL::text AS payload

--: ready_entries_read
-- Index entries that this transaction has read so far, of the two indexes that claims read.
pg_stat_get_xact_tuples_returned('eventq.event_queue_ready'::regclass)
         + pg_stat_get_xact_tuples_returned('eventq.event_ready_turn'::regclass)

--: claim_begins
WITH before AS MATERIALIZED (
  SELECT {{ready_entries_read}} AS entries
)

--: claim_ranges
-- The ranges of the index that begin at ($4, $5) and end with $6; a rank is -priority.
unnest($4::bigint[], $5::bigint[], $6::bigint[]) AS range (rank, turn, last)

--: in_claim_range
(rank, turn) >= (range.rank, range.turn) AND rank <= range.last

--: locked_live
-- The state of a live event, for the subquery that locks its row.
       q.id, q.status, q.attempts, q.retry_count, q.unreported, q.worker_id, q.due_at, q.updated_at, q.ready,
         q.turn, q.picked_at

--: locked_by_id
-- Locks ready events in the order of the ids in r, and skips those that another transaction has locked.
   CROSS JOIN LATERAL (SELECT {{locked_live}}
                         FROM eventq.event_queue AS q
                        WHERE q.id = r.id AND q.ready = 1
                          FOR UPDATE SKIP LOCKED) AS q
   LIMIT $2

--: claimed
-- The columns of a claim: a whole event, without its payload if that has more than $3 bytes; how many rows were locked;
-- how many index entries were read for that. The two counts are the same in all rows.
SELECT {{state_of_live}}, {{envelope}}, b.description,
       CASE WHEN octet_length(b.payload) <= $3 THEN b.payload END AS payload,
       n.locked, n.entries_read

--: from_locked
-- count(*) reads all of `locked` before the entries are counted. LEFT JOIN: a claim that locked nothing still returns
-- one row, with its counts. OFFSET 0 keeps the planner from joining the bodies before the rows are locked.
  FROM before
 CROSS JOIN LATERAL (SELECT count(*) AS locked, {{ready_entries_read}} - before.entries AS entries_read
                       FROM locked) AS n
  LEFT JOIN (locked AS s CROSS JOIN LATERAL (SELECT * FROM eventq.event_body WHERE id = s.id OFFSET 0) AS b) ON true
