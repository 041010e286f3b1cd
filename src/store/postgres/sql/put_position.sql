-- put_position.sql: which shard this database is. Written once. $1: its index, $2: how many shards, $3: id of their set.
INSERT INTO eventq.shard (place, "of", set_id, whole) VALUES ($1, $2, $3, false)
