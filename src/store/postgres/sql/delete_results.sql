-- delete_results.sql: deletes the results of events that are removed or that leave the archive.
DELETE FROM eventq.event_result WHERE id = ANY ($1::bigint[])
