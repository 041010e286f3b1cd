-- delete_correlations.sql: their last events have left.
DELETE FROM eventq.correlation WHERE id = ANY ($1::text[]);
