-- probe.sql: writes a row unchanged, so that the commit must reach the disk. No other statement writes this row
-- while a server runs, so the probe waits for no lock.
UPDATE eventq.shard SET place = place WHERE one;
