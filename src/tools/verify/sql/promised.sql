-- promised.sql: correlations without live events whose on_complete event was not published.
SELECT 'correlation ' || id || ' has ended, but its on_complete event was not published'
  FROM correlation WHERE pending = 0 AND on_complete <> '';
