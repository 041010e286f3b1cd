-- promised.sql: correlations that have ended without what was to follow.
SELECT 'correlation ' || id || ' has ended, and what was to follow has not been published'
  FROM correlation WHERE pending = 0 AND on_complete <> '';
