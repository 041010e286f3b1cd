-- put_whole.sql: records in shard 0 that all other databases have stored their position.
UPDATE eventq.shard SET whole = true WHERE one AND NOT whole
