-- put_whole.sql: in place 0: all the other databases were told their places.
UPDATE eventq.shard SET whole = true WHERE one AND NOT whole
