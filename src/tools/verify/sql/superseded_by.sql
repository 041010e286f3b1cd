-- superseded_by.sql: events that have superseded_by but are not SUPERSEDED, or name an older event.
SELECT 'event ' || id || ' is ' || status || ', but has superseded_by ' || superseded_by
  FROM event_archive WHERE superseded_by IS NOT NULL AND (status <> 'SUPERSEDED' OR superseded_by <= id);
