-- superseded_by.sql: events superseded by an older one, or not superseded at all.
SELECT 'event ' || id || ' is ' || status || ' and superseded by ' || superseded_by
  FROM event_archive WHERE superseded_by IS NOT NULL AND (status <> 'SUPERSEDED' OR superseded_by <= id);
