-- read_place.sql: which shard this database is; no row when that was not stored yet.
SELECT place, "of", set_id, whole::int::bigint FROM eventq.shard
