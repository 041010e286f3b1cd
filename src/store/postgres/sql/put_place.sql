-- put_place.sql: which of how many databases this one is, for ever. $1: place, $2: of, $3: which set they are.
INSERT INTO eventq.shard (place, "of", set_id, whole) VALUES ($1, $2, $3, false)
