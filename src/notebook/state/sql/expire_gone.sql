-- expire_gone.sql: forgets the files that were deleted at ?2 or before.
DELETE FROM gone WHERE notebook = ?1 AND gone_at <= ?2;
