-- session.sql: settings of every connection. They are set after connecting, so that they also work through PgBouncer in
-- session mode. All statements are index lookups. Other plans are switched off, because the planner would choose them
-- with missing or stale statistics. An acknowledged commit is on disk, whatever the database's default is.
SET search_path = eventq;
SET default_transaction_isolation = 'read committed';
SET client_min_messages = warning;
SET idle_in_transaction_session_timeout = '60s';
SET lock_timeout = '5s';
SET jit = off;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_material = off;
SET enable_memoize = off;
SET enable_sort = off;
SET plan_cache_mode = force_generic_plan;
SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') IN ('off', 'local');
