-- ends.sql: queues whose totals count fewer ended events than the archive has.
SELECT 'queue ' || t.queue || ' counts fewer ended events than its archive has'
  FROM queue_total AS t
 WHERE t.completed < (SELECT count(*) FROM event_archive
                       WHERE queue = t.queue AND status IN ('COMPLETED', 'COMPLETED_WITH_ERRORS'))
    OR t.failed_for_good < (SELECT count(*) FROM event_archive WHERE queue = t.queue AND status = 'FAILED')
    OR t.superseded < (SELECT count(*) FROM event_archive WHERE queue = t.queue AND status = 'SUPERSEDED')
    OR t.cancelled < (SELECT count(*) FROM event_archive WHERE queue = t.queue AND status = 'CANCELLED');
