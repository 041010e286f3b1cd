-- probe.sql: writes what is there already, so that the commit must reach the disk; a row that nobody else writes.
UPDATE eventq.shard SET place = place WHERE one;
