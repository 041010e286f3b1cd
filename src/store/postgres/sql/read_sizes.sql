-- read_sizes.sql: bytes on disk without the write-ahead log; the age in milliseconds of the oldest other transaction
-- that keeps dead rows from being vacuumed; how many dead rows event_queue has.
SELECT pg_database_size(current_database()),
       (SELECT coalesce(max(floor(extract(epoch FROM clock_timestamp() - began) * 1000)), 0)::bigint
          FROM (SELECT xact_start
                  FROM pg_stat_activity
                 WHERE datname = current_database() AND pid <> pg_backend_pid()
                   AND (backend_xmin IS NOT NULL OR backend_xid IS NOT NULL) AND backend_type <> 'autovacuum worker'
                UNION ALL
                SELECT prepared FROM pg_prepared_xacts WHERE database = current_database()) AS held (began)),
       (SELECT coalesce(max(n_dead_tup), 0)
          FROM pg_stat_user_tables
         WHERE schemaname = 'eventq' AND relname = 'event_queue')
