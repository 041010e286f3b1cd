-- read_place.sql: which of how many databases this one is; no row when it was not said yet.
SELECT place, "of", set_id, whole::int::bigint FROM eventq.shard
