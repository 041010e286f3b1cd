-- promised.sql: correlations without live events whose on_complete event was not published.
SELECT 'correlation ' || id || ' has ended, and what was to follow has not been published'
  FROM correlation WHERE pending = 0 AND on_complete <> '';
