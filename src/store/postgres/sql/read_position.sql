-- read_position.sql: which shard this database is. No row if the position is not stored yet.
SELECT place, "of", set_id, whole::int::bigint FROM eventq.shard
