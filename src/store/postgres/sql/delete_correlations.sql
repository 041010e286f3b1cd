-- delete_correlations.sql: deletes correlations whose last event was removed.
DELETE FROM eventq.correlation WHERE id = ANY ($1::text[]);
