-- put_whole.sql: in shard 0: all other databases have stored their position.
UPDATE eventq.shard SET whole = true WHERE one AND NOT whole
